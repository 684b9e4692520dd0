"""``python -m scopt.compiler`` is ``scoptcc``."""

import sys

from scopt.compiler.main import main

sys.exit(main())
