"""Remarks: silent, unless the user asks for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from scopt.compiler.optimized import Optimized
from scopt.compiler.settings import Settings


def report(results: Iterable[Optimized], settings: Settings) -> None:
    """Add the remarks to the user's file, and write them to stderr if SCOPT_FLAGS has ``--remarks``.

    All of one command are written at once, so that those of others that are running don't come between them.
    """
    text = "".join(result.remarks for result in results)
    if not text:
        return
    if any(flag == "--remarks" or flag.startswith("--remarks=") for flag in settings.flags):
        sys.stderr.write(text)
        sys.stderr.flush()
    if settings.remarks:
        try:
            file = os.open(settings.remarks, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            print(f"scoptcc: warning: SCOPT_REMARKS: {settings.remarks}: {error.strerror}", file=sys.stderr)
            return
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
