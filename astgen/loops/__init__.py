"""The schedule tree as loops: isl's AST in the simplified form, with short bounds."""
