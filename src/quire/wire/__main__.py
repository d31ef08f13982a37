"""``python -m quire.wire``: regenerate the shipped JSON Schema."""

from __future__ import annotations

from pathlib import Path

from quire.wire.schema import FILE, write

write(Path(__file__).with_name(FILE))
