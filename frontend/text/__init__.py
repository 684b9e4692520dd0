"""C as text: preprocessor, tokens, macros."""
