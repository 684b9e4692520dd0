"""``python -m scopt`` is ``scopt``."""

import sys

from scopt.cli import main

sys.exit(main())
