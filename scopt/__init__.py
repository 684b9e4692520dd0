"""scopt: a polyhedral source-to-source loop optimizer for C.

``optimize(source, options)`` is the Python API; ``scopt in.c -o out.c`` is the command.
"""

from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

from scopt.version import __version__

if _TYPE_CHECKING:
    from scopt.options import Options as Options
    from scopt.pipeline import optimize as optimize
    from scopt.tell.results import Result as Result

__all__ = ["Options", "Result", "__version__", "optimize"]

# A plain checkout keeps the stages in root folders; installed, they are subpackages. Where setup.py stands beside the
# folders, their parent joins the package's path, so that `python -m scopt` and pytest work without an install.
_root = _os.path.dirname(_os.path.dirname(_os.path.realpath(__file__)))
if _os.path.isfile(_os.path.join(_root, "setup.py")) and _os.path.isdir(_os.path.join(_root, "frontend")):
    __path__.append(_root)


def __getattr__(name: str) -> object:
    """Load the API on first use: `scopt --version` must not import isl."""
    if name in ("optimize", "Result"):
        from scopt import pipeline

        return getattr(pipeline, name)
    if name == "Options":
        from scopt.options import Options

        return Options
    raise AttributeError(f"module 'scopt' has no attribute {name!r}")
