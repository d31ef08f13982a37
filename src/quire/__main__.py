"""``python -m quire`` is the command line."""

import sys

from quire.cli import main

sys.exit(main())
