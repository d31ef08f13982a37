"""``python -m quire.wire``: write the shipped JSON Schema anew from the code."""

from __future__ import annotations

from pathlib import Path

from quire.wire.schema import FILE, write

write(Path(__file__).with_name(FILE))
