"""``quire.cite``: which quotations are true, where they are, and what differs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from benchmarks import passages
from benchmarks.quotations import judged

import quire
from quire.read.git_process import earlier_texts
from quire.search.quotations import quotations
from quire.search.quote_match import ComparedText, forms_of
from support.shared import needs_shared, shared_data

AUTH = """# Auth

Intro text is *here*, and it is `short`.

## OAuth

Tokens **rotate** every 30 minutes, and the server is unable to
extend them. See the [long guide](https://x.y/z) for more &amp; "details".

- First item of the list is not optional.
- Second item needs -5 or 0.5 of `max_tokens`.

## Basic

Passwords are never stored in plain text by this server.
"""
OTHER = "# Other\n\nBackups are made every night, and kept for a year.\n"


@pytest.fixture
def index(tmp_path):
    (tmp_path / "docs" / "guides").mkdir(parents=True)
    (tmp_path / "docs" / "guides" / "auth.md").write_text(AUTH)
    (tmp_path / "docs" / "other.md").write_text(OTHER)
    with quire.Index.open(tmp_path / ".quire") as opened:
        opened.update({"docs": tmp_path / "docs"})
        yield opened


def check(index: quire.Index, quote: str, source: str = "guides/auth.md") -> quire.Citation:
    (citation,) = quire.cite([{"quote": quote, "source": source}], index)
    assert (citation.quote, citation.source, citation.line) == (quote, source, 1)
    return citation


@pytest.mark.parametrize(
    "quote",
    [
        "Tokens **rotate** every 30 minutes, and the server is unable to\nextend them.",
        "tokens   rotate every\n\n30 minutes",
        "Tokens ro\u00adtate every 30 min\u00adutes",
        "See the long guide for more & “details”",
        "See the [long guide](https://x.y/z) for more &amp;",
        "See the long guide for more & 'details'.",
        "Tokens rotate … unable to extend them",
        "Tokens rotate [...] unable to […] for more",
        'unable to extend them. See the long guide for more & "details".\n\n- First item of the list is not',
        "First item of the list is not optional. Second item needs -5",
        "- First item of the list is not optional. - Second item",
        "First item … max_tokens",
    ],
)
def test_marks_and_white_space_make_no_difference(index, quote) -> None:
    citation = check(index, quote, "docs:guides/auth.md#oauth")
    assert citation.status == "found"
    (place,) = citation.places
    assert (place.id, place.tree, place.path) == ("docs:guides/auth.md#oauth", "docs", "guides/auth.md")
    assert 7 <= place.lines[0] <= place.lines[1] <= 11
    assert AUTH[place.span.start : place.span.end].split(maxsplit=1)[0].strip("*-").casefold() in quote.casefold()


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("Tokens rotate every 60 minutes, and", "Tokens rotate every [-30-] {+60+} minutes, and"),
        ("and the server is able to extend them", "and the server is [-unable-] {+able+} to extend them"),
        ("First item of the list is optional", "First item of the list is [-not-] optional"),
        ("See the [long guide](https://evil.example) for more", ""),
        ("able to extend them. See the long guide", "[-unable-] {+able+} to extend them. See the long guide"),
        ("Second item needs -5 or 0.5 of maxtokens", "Second item needs -5 or 0.5 of [-`max_tokens`.-] {+maxtokens+}"),
        ("5 of `max_tokens`", ""),
    ],
)
def test_a_changed_number_name_or_negation_is_an_alteration(index, quote, difference) -> None:
    citation = check(index, quote)
    assert citation.status == "altered"
    assert citation.places[0].id == "docs:guides/auth.md#oauth"
    assert difference in citation.difference


def test_a_number_is_quoted_with_its_sign(index) -> None:
    assert check(index, "5 or 0.5 of").status != "found"
    assert check(index, "-5 or 0").status != "found"
    assert check(index, "-5 or 0.5").status == "found"


def test_a_quotation_from_another_section_or_document(index) -> None:
    citation = check(index, "never stored in plain text", "guides/auth.md#oauth")
    assert (citation.status, citation.places[0].id) == ("found elsewhere", "docs:guides/auth.md#basic")
    citation = check(index, "Backups are made every night", "guides/auth.md#oauth")
    assert (citation.status, citation.places[0].id) == ("found elsewhere", "docs:other.md#other")
    assert check(index, "Backups are made every night", "").status == "found"
    assert check(index, "Backups are made every night", "gone.md#x").status == "found elsewhere"


def test_a_quotation_that_is_stitched(index) -> None:
    citation = check(index, "Tokens rotate every 30 minutes, and kept for a year")
    assert citation.status == "stitched"
    assert [place.path for place in citation.places] == ["guides/auth.md", "other.md"]


def test_a_quotation_that_is_nowhere(index) -> None:
    citation = check(index, "Elephants prefer to swim across rivers at dusk")
    assert (citation.status, citation.places) == ("not in the documents", ())


@pytest.mark.parametrize(
    "source",
    [
        "docs:guides/auth.md#oauth", "guides/auth.md#oauth", "../guides/auth.md#oauth", "guides/auth.md:8", "guides/auth.md",
        "https://docs.example.com/en/guides/auth/#oauth", "quire:///docs/guides/auth.md#oauth",
    ],
)  # fmt: skip
def test_sources_are_ids_paths_links_and_addresses(index, source) -> None:
    assert check(index, "the server is unable to", source).status == "found"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('It says "rotate it" [docs:a.md#x].', [("rotate it", "docs:a.md#x", 1)]),
        ('a\n\nIt says\n"rotate it" ([A](a.md#x)).', [("rotate it", "a.md#x", 4)]),
        ('["rotate it"](a.md#x)', [("rotate it", "a.md#x", 1)]),
        ("„rotate it“ (a.md) and «rotate» [b.md:3]", [("rotate it", "a.md", 1), ("rotate", "b.md:3", 1)]),
        ('"the "fast" way"[^1], "b c."[^2]\n\n[^1]: See [A](a.md#x).\n[^2]: docs:b.md', [('the "fast" way', "a.md#x", 1), ("b c.", "docs:b.md", 1)]),
        ("> one two\n> three\n>\n> — [A](a.md#x)\n", [("one two\nthree", "a.md#x", 1)]),
        ("> one two\n\n— docs:a.md#x\n", [("one two", "docs:a.md#x", 1)]),
        ("> one two [docs:a.md#x]\n", [("one two", "docs:a.md#x", 1)]),
        ('A "word" and 5" pipes, "no source but with five words"', [("no source but with five words", "", 1)]),
        ('```\nprint("this is no quotation at all")\n```\n', []),
        ('[{"quote": "a b", "source": "a.md"}, {"quote": "c"}]', [("a b", "a.md", 1), ("c", "", 2)]),
        ("[]", []),
    ],
)  # fmt: skip
def test_the_forms_of_quotations(text, found) -> None:
    assert [(each.quote, each.source, each.line) for each in quotations(text)] == found


def test_objects_without_a_quote_are_refused(index) -> None:
    with pytest.raises(quire.InputError, match="number 2 has no quote"):
        quire.cite([{"quote": "a"}, {"source": "b"}], index)


def test_what_was_removed_names_the_commit(tmp_path) -> None:
    docs = tmp_path / "repo" / "docs"
    docs.mkdir(parents=True)

    def git(*arguments: str) -> str:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *names, *arguments], cwd=docs, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(text: str) -> str:
        (docs / "a.md").write_text(text)
        git("add", ".")
        git("commit", "-qm", "change")
        return git("rev-parse", "HEAD")

    git("init", "-q", "..")
    commit("# A\n\nTokens last for *thirty* minutes here.\n\nMore.\n")
    (docs / "gone.md").write_text("# Gone\n\nThis page was removed from the site.\n")
    changed = commit("# A\n\nTokens last for sixty minutes here.\n\nMore.\n")
    (docs / "gone.md").unlink()
    removed = commit("# A\n\nTokens last for sixty minutes here.\n\nNew words, soon dropped.\n")
    (docs / "a.md").write_text("# A\n\nTokens last for sixty minutes here.\n")
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": docs})
        for quote, source, expected in [
            ("Tokens last for thirty minutes here", "docs:a.md#a", changed),
            ("This page was removed from the site", "docs/gone.md#gone", removed),
            ("New words, soon dropped", "a.md", ""),
        ]:
            citation = check(index, quote, source)
            assert (citation.status, citation.commit) == ("was there", expected)
        assert check(index, "Tokens last for ninety minutes here", "a.md").status == "altered"


@needs_shared
@pytest.mark.parametrize("site", passages.SITES)
def test_passages_of_real_documents(site) -> None:
    """A part of ``python -m benchmarks quotations``."""
    outcomes = list(judged(Path(shared_data() or "") / passages.SITES[site], 12))
    assert len(outcomes) > 100
    assert [(case.change, case.quote, status) for case, status, is_wrong in outcomes if is_wrong] == []


def test_time_grows_with_the_text() -> None:
    """Marks that are never closed, quotation marks without an end, and many occurrences."""
    for piece in ("<!--", "](", "![", "{{<", "<a ", '"a ', "> ", "``` a\n", "_", "aaaa"):
        text = piece * 20_000 + "b"
        quotations(text)
        for form in forms_of("a - b"):
            assert list(ComparedText(text, form).occurrences("never there")) == []


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "a.md\nHEAD:./secret.md", ".git/config", "-x"])
def test_a_source_that_leaves_its_tree_has_no_history(path, tmp_path) -> None:
    assert list(earlier_texts(tmp_path, path)) == []
