"""The exit codes of `scopt`, as `--help` lists them."""

DONE, REFUSED, UNUSABLE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
