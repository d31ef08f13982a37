"""The test support itself: documents are made of every kind of block, and missing data is skipped by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import quire
from support import grammar, shared

KINDS = {"heading", "paragraph", "code", "table", "list", "quote", "html", "math", "footnote", "rule", "directive"}


def test_documents_have_every_kind_of_block() -> None:
    kinds: set[str] = set()

    @settings(
        max_examples=1_500,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(grammar.documents())
    def collect(text: str) -> None:
        kinds.update(block.kind for block in quire.parse(text).blocks)

    collect()
    assert kinds >= KINDS


def test_missing_shared_data_is_skipped_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUIRE_SHARED", str(tmp_path / "nowhere"))
    with pytest.raises(pytest.skip.Exception, match="nowhere; set QUIRE_SHARED"):
        next(shared.documents())
