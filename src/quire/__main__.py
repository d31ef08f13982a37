"""``python -m quire`` is the command line."""

from __future__ import annotations

import sys

from quire.cli import main

sys.exit(main())
