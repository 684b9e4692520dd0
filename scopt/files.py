"""Reading and writing the user's files."""

from __future__ import annotations

import contextlib
import os
import stat


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that it is there whole or not at all: other processes see the old bytes or the new ones.

    Symbolic links are followed. An existing file keeps its mode; what is no regular file (a device, a pipe) is written
    directly.
    Raises OSError; then nothing has changed and no temporary file stays.
    """
    target = os.path.realpath(path)
    try:
        mode: int | None = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as special:
            special.write(data)
        return
    # open() gives a new file the mode that the umask asks for, which mkstemp doesn't.
    temporary = os.path.join(os.path.dirname(target), f".{os.path.basename(target)[:200]}.{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
