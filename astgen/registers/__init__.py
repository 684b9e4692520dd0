"""Register tiles over packed operands."""
