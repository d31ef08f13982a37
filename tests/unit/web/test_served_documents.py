"""The table of documents: keys, lists, and how much of a large folder is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.errors import NotFoundError
from quire.read.discover import Discovery, Found
from quire.web.inspector import MOST_LISTED, ServedDocuments


def many(number: int) -> list[Found]:
    paths = [f"area-{index % 30}/page-{index}.md" for index in range(number)]
    return [Found(Path("/data/docs") / path, path, "/data/docs") for path in paths]


def test_fifteen_thousand_documents_are_listed_a_folder_at_a_time() -> None:
    documents = ServedDocuments(lambda: many(15_000))
    assert len(documents) == 15_000
    assert documents.listing("") == {"folders": [("docs", 15_000)], "documents": [], "more": 0}
    assert len(documents.listing("docs")["folders"]) == 30
    assert len(documents.listing("docs/area-3")["documents"]) == 500
    found = documents.matching("page-1499 area")
    assert found["documents"][0] == "docs/area-29/page-1499.md"
    everything = documents.matching("page")
    assert (len(everything["documents"]), everything["more"]) == (MOST_LISTED, 15_000 - MOST_LISTED)


def test_a_folder_with_too_many_documents_says_so() -> None:
    found = [Found(Path(f"/data/docs/{index}.md"), f"{index}.md", "/data/docs") for index in range(2000)]
    listing = ServedDocuments(lambda: found).listing("docs")
    assert (len(listing["documents"]), listing["more"]) == (MOST_LISTED, 2000 - MOST_LISTED)


def test_folders_of_the_same_name_and_single_files_have_keys_of_their_own(tmp_path) -> None:
    for name in ("one/docs/a.md", "two/docs/a.md", "two/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    roots = [str(tmp_path / "one" / "docs"), str(tmp_path / "two" / "docs"), str(tmp_path / "two" / "b.md")]
    documents = ServedDocuments(lambda: [found for root in roots for found in Discovery(root).documents])
    assert [documents.text(key)[0] for key in ("docs/a.md", "docs-2/a.md", "b.md")] == [
        "# one/docs/a.md\n", "# two/docs/a.md\n", "# two/b.md\n",
    ]  # fmt: skip
    file = str(tmp_path / "two" / "docs" / "a.md")
    assert documents.keys[file] == "docs-2/a.md"
    with pytest.raises(NotFoundError):
        documents.text("docs/b.md")


def test_an_introduction_is_opened_first() -> None:
    paths = ["a/deep/README.md", "b.md", "c/index.md", "a.md"]
    found = [Found(Path("/data/docs") / path, path, "/data/docs") for path in paths]
    assert ServedDocuments(lambda: found).first() == "docs/c/index.md"
    assert ServedDocuments(lambda: found[1:2]).first() == "docs/b.md"
    assert ServedDocuments(list).first() is None
