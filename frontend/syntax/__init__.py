"""C as trees: parsing, types, scopes, constants."""
