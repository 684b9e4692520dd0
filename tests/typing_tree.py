"""Make the tree that mypy looks at: one folder `scopt` with the root folders linked in as the subpackages they are
installed as.

usage: typing_tree.py FOLDER
Without it `mypy -p scopt` is green without ever looking at the stages.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def make(folder: Path) -> None:
    """Replace `folder` by a tree of links into this checkout."""
    root = Path(__file__).resolve().parent.parent
    package = folder / "scopt"
    shutil.rmtree(folder, ignore_errors=True)
    package.mkdir(parents=True)
    stages = [init.parent for init in root.glob("*/__init__.py") if init.parent.name != "scopt"]
    inner = [init.parent for init in root.glob("scopt/*/__init__.py")]
    for source in [*(root / "scopt").glob("*.py"), *inner, *stages]:
        (package / source.name).symlink_to(source)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
