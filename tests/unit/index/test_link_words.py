"""Links from other pages find the section that they lead to, and stay right when pages change."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from quire.index.engine.node_fields import ID
from quire.index.link_words import LinkRecord, decode_links
from quire.search.index_api import Index
from quire.search.search_settings import SearchSettings

TARGET = "# Storage\n\nText.\n\n## Volumes\n\nMore text.\n\n## Mounts\n\nStill more.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "storage.md").write_text(TARGET)
    (folder / "a.md").write_text("# A\n\nSee [persistent disks](storage.md#volumes).\n")
    return folder


def found(index: Index, query: str) -> list[str]:
    """The sections of ``storage.md`` that a query finds."""
    return [hit.id for hit in index.search(query, every=True) if hit.path == "storage.md"]


def test_a_section_is_found_by_the_words_of_links_to_it(docs: Path, tmp_path: Path) -> None:
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    assert found(index, "persistent disks") == ["docs:storage.md#volumes"]
    without = Index.open(tmp_path / "index", settings=SearchSettings(boosts={"links": 0}))
    assert found(without, "persistent disks") == []


def test_links_of_a_page_to_itself_do_not_count(docs: Path, tmp_path: Path) -> None:
    (docs / "storage.md").write_text(f"[local places](#mounts)\n\n{TARGET}")
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    assert "docs:storage.md#mounts" not in found(index, "local places")


@pytest.mark.parametrize("update", ["changed", "removed", "added", "moved"])
def test_an_update_keeps_them_right(docs: Path, tmp_path: Path, update: str) -> None:
    """Only pages around the target change; an index made anew finds the same."""
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    expected = {
        "changed": {"persistent disks": [], "durable places": ["docs:storage.md#mounts"]},
        "removed": {"persistent disks": []},
        "added": {"persistent disks": ["docs:storage.md#volumes"], "block devices": ["docs:storage.md#volumes"]},
        "moved": {"persistent disks": ["docs:storage.md#mounts"]},
    }[update]
    if update == "changed":
        (docs / "a.md").write_text("# A\n\nSee [durable places](storage.md#mounts).\n")
    elif update == "removed":
        (docs / "a.md").unlink()
    elif update == "added":
        (docs / "b.md").write_text("# B\n\nSee [block devices](storage.md#volumes).\n")
    else:  # the anchor is that of another section now
        text = TARGET.replace("## Volumes", "## Old").replace("## Mounts", "## Mounts {#volumes}")
        (docs / "storage.md").write_text(text)
        expected = {"persistent disks": ["docs:storage.md#volumes"]}
    index.update()
    again = Index.open(tmp_path / "again")
    again.update({"docs": docs})
    for query, sections in expected.items():
        assert found(index, query) == sections, query
        assert found(again, query) == sections, query
    if update == "moved":
        [hit] = [hit for hit in index.search("persistent disks", every=True) if hit.path == "storage.md"]
        assert hit.title == "Mounts"


def test_an_edit_that_changes_no_link_writes_no_other_page(docs: Path, tmp_path: Path) -> None:
    index = Index.open(tmp_path / "index")
    index.update({"docs": docs})
    (docs / "a.md").write_text("# A\n\nNow see [persistent disks](storage.md#volumes), please.\n")
    done = index.update()
    assert (done.changed, done.unchanged) == (1, 1)
    assert found(index, "persistent disks") == ["docs:storage.md#volumes"]


def test_the_page_that_others_link_to_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text("# Label\n\nA label is a pair of words.\n")
    for number in range(4):
        (folder / f"page{number}.md").write_text(f"# Page {number}\n\nSee [there](two.md).\n")
    index = Index.open(tmp_path / "index")
    index.update({"docs": folder})
    assert index.search("label pair", every=True)[0].path == "two.md"


NAMES = ("a.md", "b.md", "c/index.md", "c/d.md", "c.md", "e/_index.md", "e/f.md", "e/01-g.md", "h.mdx", "i/j/d.md")
TARGETS = (
    *("b.md", "c/", "../a.md", "/docs/c/d", "/c/d#two", "c#one", "f", "/site/e/f/#one", "g", "../c/d.md#two", "e/f.md"),
    *("/x/i/j/d", "/old/page#two", "/en/Web/One", "/en/web/two/", "h", "d#two", "..", "/", "picture.png", "#one"),
)
FRONT_MATTER = ("", "", "slug: Web/One", "slug: Web/Two", "aliases: [/old/page, d]", "url: /c/", "permalink: /site/a/")


def link_records(index: Index) -> tuple[dict[str, LinkRecord], dict[tuple[str, str], int]]:
    """What the index knows about the links of each document, and what they show about the site."""
    snapshot = index._snapshot()
    records = snapshot.blobs_of_documents(ID, list(snapshot.files), decode_links)
    return {record.page.path: record for record in records}, snapshot.signs("docs")


@pytest.mark.parametrize("seed", range(8))
def test_edits_one_by_one_give_the_records_of_a_new_index(memory_path: Path, seed: int) -> None:
    """Pages are edited, renamed, added and removed; links are relative, absolute, ambiguous and wiki links."""
    rng, docs = Random(seed), memory_path / "docs"

    def write(name: str) -> None:
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        links = [f"[{rng.choice('uvwx')}]({rng.choice(TARGETS)})" for _ in range(rng.randint(0, 5))]
        links += [f"[[{rng.choice(['a', 'f', 'nowhere', 'c/d#One', 'd'])}]]" for _ in range(rng.randint(0, 2))]
        headings = "".join(f"## {rng.choice(['One', 'Two', 'Three'])}\n\nText.\n\n" for _ in range(rng.randint(0, 2)))
        front = f"---\n{rng.choice(FRONT_MATTER)}\n---\n"
        (docs / name).write_text(f"{front}# {name}\n\n{' '.join(links)}\n\n{headings}", encoding="utf-8")

    for name in NAMES[:6]:
        write(name)
    index = Index.open(memory_path / "index")
    index.update({"docs": docs})
    for number in range(12):
        for name in rng.sample(NAMES, rng.randint(1, 3)):
            page, other = docs / name, docs / rng.choice(NAMES)
            if page.exists() and rng.random() < 0.3:
                page.unlink()
            elif page.exists() and rng.random() < 0.3:
                other.parent.mkdir(parents=True, exist_ok=True)
                page.replace(other)
            else:
                write(name)
        index.update()
        again = Index.open(memory_path / f"again-{number}")
        again.update({"docs": docs})
        assert link_records(index) == link_records(again)
