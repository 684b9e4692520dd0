"""Becomes the compiler: what most commands come to, so nothing else is imported for it."""

from __future__ import annotations

import os
import sys


def replace_process(command: list[str]) -> int:
    """Become another program; returns only an exit status where that can't be done."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"scoptcc: error: {command[0]}: {error.strerror}", file=sys.stderr)
        return 126
