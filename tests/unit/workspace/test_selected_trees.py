"""Paths and addresses as users see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.workspace.selected_trees import display_path


@pytest.mark.parametrize(
    "address", ["s3://bucket/docs/page.md", "lancedb:s3://bucket/sections#quire", "lancedb:/data/sections#quire"]
)
def test_addresses_of_a_store(address: str) -> None:
    """They stay as they were given, although they are kept as paths."""
    assert display_path(Path(address)) == address
    assert display_path(address) == address
