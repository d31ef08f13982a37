"""A name in code is found where it is explained before where it is mentioned."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.search.search_settings import SearchSettings

MENTION = "# Rolling\n\nSet pool.maxSurge first, then go on.\n"


@pytest.mark.parametrize(
    "explained",
    [
        "| name | what it does |\n|---|---|\n| `pool.maxSurge` | how many more there are |\n",
        "`pool.maxSurge`\n: How many more there are.\n",
        "- `pool.maxSurge`: how many more there are\n",
        "- **`pool.maxSurge`** - how many more there are\n",
        "<table><tr>\n<td><code>pool.maxSurge</code></td><td>how many more there are</td></tr></table>\n",
    ],
)
def test_a_name_is_found_where_it_is_explained(tmp_path: Path, explained: str) -> None:
    (tmp_path / "mention.md").write_text(MENTION)
    (tmp_path / "reference.md").write_text(f"# Reference\n\n{explained}\n" + "Other words of this page. " * 5)
    for number in range(30):
        (tmp_path / f"{number}.md").write_text("# Page\n\nOther words.\n")
    for settings, first in ((SearchSettings(explained=0.0), "mention.md"), (SearchSettings(), "reference.md")):
        with quire.Index.open(tmp_path / ".quire", settings=settings) as index:
            index.update({"docs": tmp_path})
            assert index.search("pool.maxSurge", every=True)[0].path == first
            assert index.search("what is pool.maxSurge", every=True)[0].path == first
