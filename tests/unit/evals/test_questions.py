"""Questions from a file and from links."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import quire
from quire.evals.link_free_index import build_index, without_links
from quire.evals.questions import Question, link_questions, read_questions, sample
from quire.links.broken_links import LinkTargets
from quire.search.index_api import Index


def parsed(documents: Mapping[str, str]) -> dict[str, quire.Document]:
    return {path: quire.parse(text, path=path) for path, text in documents.items()}


def asked(documents: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The questions that the links of documents ask, with their answers."""
    return {each.query: each.answers for each in link_questions({"docs": parsed(documents)})}


PAGES = {
    "a.md": "# A\n\nSee [the first\npart](b.md#part), [all of b](b.md) and [here](b.md).\n",
    "b.md": "# B\n\n[back to](#part)\n\n## Part\n\ntext\n",
    "c.md": "# C\n\nSee [The first part](b.md#part) and [all of b](a.md).\n",
}


def test_links_are_questions() -> None:
    assert asked(PAGES) == {
        "The first part": ("docs:b.md#part",),
        "the first part": ("docs:b.md#part",),
        "all of b": ("docs:b.md", "docs:a.md"),
    }


def test_holders_are_the_documents_with_the_link_that_do_not_answer() -> None:
    questions = {each.query: each for each in link_questions({"docs": parsed(PAGES)})}
    assert questions["the first part"].holders == {"docs:a.md"}
    assert questions["all of b"].holders == {"docs:c.md"}


def test_a_text_that_leads_to_many_targets_is_no_question() -> None:
    pages = {f"{name}.md": f"# {name}\n" for name in "bcdefgh"}
    links = " ".join(f"[this page]({path})" for path in pages)
    assert asked({"a.md": f"{links} [page b](b.md)\n", **pages}) == {"page b": ("docs:b.md",)}


def test_scripts_without_spaces() -> None:
    assert asked({"a.md": "[安装指南](b.md)\n", "b.md": "x\n"}) == {"安装指南": ("docs:b.md",)}


def test_no_links() -> None:
    with pytest.raises(quire.QuireError, match=r"no links between the documents.*--questions FILE"):
        asked({"a.md": "[a b](#a) [c d](https://example.org)\n\n# A\n"})


def test_read_questions(tmp_path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"query": "a b", "answers": ["a.md", "a.md#x", "a.md"]}\n\n{"query": "c", "answers": ["d:b.md"]}')
    assert read_questions(file, "q.jsonl") == [
        Question("a b", ("a.md", "a.md#x"), line="q.jsonl:1"),
        Question("c", ("d:b.md",), line="q.jsonl:3"),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"query": "a"', "q.jsonl:2: not a question: "),
        ("[]", "q.jsonl:2: not a question: Expected `object`, got `array`"),
        ('{"answers": ["a.md"]}', "q.jsonl:2: not a question: Object missing required field `query`"),
        ('{"query": " ", "answers": ["a.md"]}', "q.jsonl:2: not a question: Expected `str` matching"),
        (
            '{"query": "a", "answers": "a.md"}',
            "q.jsonl:2: not a question: Expected `array`, got `str` - at `$.answers`",
        ),
        ('{"query": "a", "answers": []}', "q.jsonl:2: not a question: Expected `array` of length >= 1"),
        ("[" * 100_000, "q.jsonl:2: not a question: "),
    ],
)
def test_an_invalid_line_is_named(line, problem, tmp_path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f'{{"query": "a", "answers": ["a.md"]}}\n{line}\n')
    with pytest.raises(quire.InputError) as caught:
        read_questions(file, "q.jsonl")
    assert str(caught.value).startswith(problem)
    assert '{"query": ' in str(caught.value)


def test_a_file_without_questions(tmp_path) -> None:
    (tmp_path / "q.jsonl").write_text("\n")
    with pytest.raises(quire.InputError, match="no questions in it; write one per line"):
        read_questions(tmp_path / "q.jsonl", "q.jsonl")


def test_a_sample_is_always_the_same() -> None:
    questions = [Question(str(number), ("a.md",)) for number in range(100)]
    assert sample(questions, None) == sample(questions, 200) == questions
    chosen = sample(questions, 10)
    assert chosen == sample(questions, 10) == sorted(chosen, key=questions.index)
    assert len(set(chosen)) == 10
    assert chosen != questions[:10]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [b *c*](d.md 'e') f", "a \\[b *c*\\] f"),
        ("## [`<b>` c][d] {#e}\n\n[d]: e.md\n", "## \\[`<b>` c\\] {#e}\n\n[d]: e.md\n"),
        ("[b c]\n\n[b c]: d.md\n", "\\[b c\\]\n\n[b c]: d.md\n"),
        ("[![b](c.png) d](e.md)", "\\[![b](c.png) d\\]"),
        ("[1. b](c.md) [d](e.md)", "\\[1. b\\] \\[d\\]"),
        ("x [[b|c d]] y", "x \\[[b|c d]\\] y"),
    ],
)
def test_links_are_left_out_and_their_words_stay(text, expected) -> None:
    assert without_links(text, quire.parse(text, path="a.md").links) == expected
    assert quire.parse(expected, path="a.md").links == ()


def test_the_index_of_a_fold_lacks_its_links_only() -> None:
    trees = {"docs": parsed(PAGES)}
    questions = [each for each in link_questions(trees) if each.query.casefold() == "the first part"]
    with build_index(trees, {}, questions) as folder, Index.open(folder) as index:
        copies = {each.path: quire.parse(index.get(each.id).text, path=each.path) for each in index.documents()}
    targets = LinkTargets(copies)
    assert {path: [link.text for link in links] for path, links in targets.links.items()} == {
        "a.md": ["all of b", "here"],
        "b.md": ["back to"],
        "c.md": ["all of b"],
    }
    assert "the first\npart" in copies["a.md"].text
    assert not folder.exists()
