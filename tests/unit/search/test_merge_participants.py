"""What becomes of nodes that do not count when results are merged."""

from __future__ import annotations

from pathlib import Path

from quire.indexed import Index

_TEXT = """\
## H0

servers instructions servers

## Ref

instructions x instructions instructions words z z

### Servers

z y z x y z x x words z y filler words x x x filler x filler
"""


def test_a_node_that_does_not_count_leaves_its_score_to_the_result_below_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(_TEXT)
    index = Index.open(tmp_path / "index")
    index.update({"docs": tmp_path / "docs"})
    alone = {hit.id: hit.score for hit in index.search("servers OR instructions", merge=False)}
    merged = {hit.id: hit for hit in index.search("servers OR instructions", explain=True)}
    assert alone["docs:a.md#servers"] < alone["docs:a.md#ref"]
    assert set(merged) == {"docs:a.md#h0", "docs:a.md#servers"}
    assert merged["docs:a.md#servers"].score == alone["docs:a.md#ref"]
    assert [step["rule"] for step in merged["docs:a.md#servers"].explanation["merging"]] == ["apart", "passed over"]
