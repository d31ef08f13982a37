"""Conditions on front matter: as a field of a query, as a filter, and as a weight."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from quire.errors import OptionError
from quire.mcp.answers import Service
from quire.mcp.tools import Search
from quire.search.index_api import Index
from quire.search.query_syntax import parse, show
from quire.search.search_settings import SearchSettings
from quire.workspace.workspace import Workspace

DOCUMENTS = {
    "a.md": "---\nstatus: draft\ndate: 2024-05-01\nversion: 9\ntags: [api, auth]\nowner: Jane Doe\n---\nA volume.\n",
    "b.md": "---\nStatus: Stable\ndate: 2025-06-01\nversion: 10\ntags: api, web\ndraft: true\n---\nA volume.\n",
    "c.md": '+++\nstatus = "in review"\ndate = 2026-01-01T10:00:00Z\nversion = 10.5\n+++\nA volume.\n',
    "d.md": "---\ndate: unknown\nparent: {name: x}\n---\nA volume at localhost.\n",
    "release-notes/e.md": "A volume.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("front-matter")
    for name, text in DOCUMENTS.items():
        file = folder / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with Index.open(folder / ".quire") as index:
        index.update({"docs": folder / "docs"})
    return folder


def found(index: Index, query: str, **options: object) -> str:
    """The names of the documents that are found, sorted."""
    return "".join(sorted(Path(hit.path).stem for hit in index.search(query, **options)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("status:draft", "a"),
        ("status:DRAFT", "a"),
        ("Status:stable", "b"),
        ('status:"in review"', "c"),
        ("status:in*", "c"),
        ("status:review", ""),
        ("owner:jane*", "a"),
        ("date:>2025", "bc"),
        ("date:<2025", "a"),
        ("date:>=2025-06-01", "bc"),
        ("date:>2025-06-01", "c"),
        ("date:2025", "b"),
        ("date:2026-01-01", "c"),
        ("date:unknown", "d"),
        ("version:>9", "bc"),
        ("version:10.0", "b"),
        ("draft:true", "b"),
        ("parent:x", ""),
    ],
)
def test_a_query_may_name_any_key(folder: Path, condition: str, expected: str) -> None:
    index = Index.open(folder / ".quire")
    assert found(index, f"volume {condition}") == found(index, condition) == expected
    rest = "".join(sorted(set("abcde") - set(expected)))
    assert found(index, f"volume -{condition}") == rest
    key, _, value = condition.partition(":")
    assert found(index, "volume", where=f"{key}={value}".replace('"', "")) == expected
    assert found(index, "volume", where={key: value.replace('"', "")}) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("tags=api", "ab"),
        (["tags=api", "tags=auth"], "a"),
        ({"tags": ["api", "auth"]}, "a"),
        ({"version": 10, "draft": True}, "b"),
        ("date > 2025", "bc"),
        ("date:>2025", "bc"),
        ("path=release-notes/**", "e"),
        ("path:docs:/a.md", "a"),
        ("tree=docs", "abcde"),
        ([], "abcde"),
    ],
)
def test_where_restricts_a_search(folder: Path, where: object, expected: str) -> None:
    index = Index.open(folder / ".quire")
    assert found(index, "volume", where=where) == expected
    similar = index.similar(text="a volume", where=where)  # type: ignore[arg-type]
    assert "".join(sorted(Path(hit.path).stem for hit in similar)) == expected


def test_alternatives_of_conditions(folder: Path) -> None:
    index = Index.open(folder / ".quire")
    assert found(index, "volume status:(draft OR stable)") == "ab"
    assert found(index, "volume (status:draft OR version:>10)") == "ac"


def test_an_unknown_key_finds_nothing_and_says_which_there_are(folder: Path) -> None:
    index = Index.open(folder / ".quire")
    for results in (index.search("volume statsu:draft"), index.search("volume", where="statsu=draft")):
        assert (list(results), results.unknown_keys) == ([], ["statsu"])
        assert results.known_keys == ["date", "draft", "owner", "status", "tags", "version"]
    workspace = Workspace.open([str(folder / "docs")], index=str(folder / ".quire"))
    service = Service(workspace, len, 4_000)
    answer = Search(query="volume", where="statsu=draft").answer(service)
    note = 'no front matter has the key "statsu"; there are: date, draft, owner, status, tags, version'
    assert (answer.record["total"], answer.record["note"]) == (0, note)
    [only] = Search(query="volume", where="status=draft").answer(service).record["results"]
    assert only["path"] == "a.md:1-8"


def test_words_with_a_colon_that_documents_contain_are_text(folder: Path) -> None:
    assert found(Index.open(folder / ".quire"), "localhost:8080") == "d"


@pytest.mark.parametrize("where", ["status", "=draft", "", 3, [None], "status="])
def test_what_is_no_condition_is_refused(folder: Path, where: object) -> None:
    with pytest.raises(OptionError, match="where"):
        Index.open(folder / ".quire").search("volume", where=where)  # type: ignore[arg-type]
    if isinstance(where, str):
        with pytest.raises(OptionError, match=r"search\.where"):
            Index.open(folder / ".quire", settings=SearchSettings(where={where: 0.5}))


def test_a_weight_ranks_documents_down_and_does_not_hide_them(folder: Path) -> None:
    def scores(where: dict[str, float]) -> dict[str, float]:
        index = Index.open(folder / ".quire", settings=SearchSettings(where=where, relevance_cutoff=0))
        return {hit.path: hit.score for hit in index.search("volume", explain=True)}

    plain, weighted = scores({}), scores({"path:release-notes/**": 0.3, "status:draft": 0.5, "version=9": 0.5})
    assert weighted.keys() == plain.keys()
    best = max(plain[name] * (0.3 if "e.md" in name else 0.25 if name == "a.md" else 1) for name in plain)
    for name, factor in {"release-notes/e.md": 0.3, "a.md": 0.25, "b.md": 1.0, "d.md": 1.0}.items():
        assert weighted[name] == pytest.approx(plain[name] * factor / best)


def test_documents_of_little_weight_do_not_keep_others_out(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(80):
        (tmp_path / "docs" / f"note-{number}.md").write_text("# Volume\n\nvolume volume\n")
    (tmp_path / "docs" / "guide.md").write_text("# Disks\n\nWords about a disk, then the word volume, then more.\n")
    settings = SearchSettings(where={"path:note-*": 1e-6})
    index = Index.open(tmp_path / ".quire", settings=settings)
    index.update({"docs": tmp_path / "docs"})
    assert index.search("volume")[0].path == "guide.md"
    everything = Index.open(tmp_path / ".quire", settings=replace(settings, relevance_cutoff=0)).search("volume")
    assert len(everything) == 10


def test_a_key_is_shown_as_it_is_typed() -> None:
    keys = frozenset(["status", "page type"])
    tree = parse('status:draft -page type status:"in review"^2 date:>2025', keys)
    assert show(tree) == 'status:draft -page type status:"in review"^2 date:>2025'
    assert parse(show(tree), keys) == tree
