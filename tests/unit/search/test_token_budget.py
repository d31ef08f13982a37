"""The text that is given for each result, and the budget that it never passes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.index.node import Node, PassageSpan, build_nodes
from quire.model.breadcrumbs import joined
from quire.model.document import Span
from quire.search.token_budget import MIN_EXCERPT, Excerpt, fit
from quire.tokens.tokenizers import resolve
from support.grammar import documents, small_texts

Section = tuple[Node, Sequence[int]]

COUNTER = resolve(None, "o200k_base")


def needles(text: str) -> list[Span]:
    """The matches of the tests: the word ``needle``."""
    return [Span(*found.span()) for found in re.finditer("needle", text)]


class Shelf:
    """Documents, cut into nodes, with a part for each run of lines between blank ones."""

    def __init__(self, *sources: str) -> None:
        self.sources = sources
        self.documents = [self._nodes(number, source) for number, source in enumerate(sources)]
        self.reads = 0

    @staticmethod
    def _nodes(number: int, source: str) -> list[Node]:
        document = quire.parse(source, path=f"{number}.md")
        return [_parted(node) for node in build_nodes(document, "docs", COUNTER)]

    def read(self, document_id: str, first: int, last: int) -> Sequence[Node]:
        self.reads += 1
        return self.documents[self._number(document_id)][first : last + 1]

    def section(self, title: str, *constituents: str) -> Section:
        nodes = next(nodes for nodes in self.documents if any(node.title == title for node in nodes))
        places = {node.title: node.position for node in nodes}
        return nodes[places[title]], tuple(places[each] for each in constituents or [title])

    def source(self, section: Section) -> str:
        return self.sources[self._number(section[0].document_id)]

    @staticmethod
    def _number(document_id: str) -> int:
        return int(document_id.removeprefix("docs:").removesuffix(".md"))


def _parted(node: Node) -> Node:
    """With a part for each paragraph and the blank lines after it, the heading with the first of them."""
    starts = [found.start() for found in re.finditer(r"(?<=\n\n)(?=[^\n])", node.text)]
    edges = [0, *(start for start in starts if node.text[node.body : start].strip()), len(node.text)]
    parts = tuple(
        PassageSpan(start, end, COUNTER.count(node.text[start:end])) for start, end in pairwise(edges) if start < end
    )
    return msgspec.structs.replace(node, passages=parts if len(parts) > 1 else ())


def cost(sections: Sequence[Section], answers: Sequence[Excerpt]) -> int:
    """What the tokenizer itself counts."""
    shown = [(section, answer) for section, answer in zip(sections, answers, strict=True) if answer]
    return sum(COUNTER.count(answer.text) + COUNTER.count(joined(section[0].breadcrumb)) for section, answer in shown)


def words(number: int, word: str = "word") -> str:
    return " ".join([word] * number)


GUIDE = f"""# Guide

{words(20)}

## Setup

{words(30, "setup")}

### Linux

{words(40, "linux")}

## Use

The needle is here.

{words(50, "use")}

Another needle and a needle.

{words(60, "more")}
"""


# ----------------------------------------------------------------------------------------------------------------------
# Without a budget
# ----------------------------------------------------------------------------------------------------------------------


def test_a_section_is_given_with_all_that_is_below_it() -> None:
    shelf = Shelf(GUIDE)
    [given_text] = fit([shelf.section("Setup")], shelf.read)
    start, end = GUIDE.index("## Setup"), GUIDE.index("## Use")
    assert given_text.text == GUIDE[start:end]
    assert given_text.spans == (Span(start, end),)
    assert given_text.tokens == COUNTER.count(GUIDE[start:end])


def test_nothing_is_read_for_a_leaf() -> None:
    shelf = Shelf(GUIDE)
    [given_text] = fit([shelf.section("Linux")], shelf.read)
    assert given_text
    assert given_text.text.startswith("### Linux\n\nlinux linux")
    assert shelf.reads == 0


# ----------------------------------------------------------------------------------------------------------------------
# With a budget
# ----------------------------------------------------------------------------------------------------------------------


def budgeted(shelf: Shelf, max_tokens: int, *sections: Section) -> list[Excerpt]:
    answers = fit(sections, shelf.read, max_tokens=max_tokens, ranges=needles)
    assert cost(sections, answers) <= max_tokens
    return answers


def shown(answer: Excerpt) -> str:
    """A text with its repeated words put together."""
    return re.sub(r"\b(\w+)( \1)+\b", lambda run: f"{run[1]}×{len(run[0].split())}", answer.text)


def test_what_fits_is_given_whole() -> None:
    shelf = Shelf(GUIDE)
    section = shelf.section("Setup")
    enough = section[0].full_tokens + section[0].crumb_tokens
    [whole] = budgeted(shelf, enough, section)
    assert whole
    assert whole.spans == (Span(section[0].start, section[0].full_end),)
    [less] = budgeted(shelf, enough - 1, section)
    assert less
    assert less.spans != whole.spans


def test_of_a_section_that_is_too_long_its_own_text_is_given() -> None:
    shelf = Shelf(GUIDE)
    for matched in (("Linux",), ("Linux", "Setup"), ("Setup", "Linux")):
        [answer] = budgeted(shelf, 65, shelf.section("Setup", *matched))
        assert shown(answer) == "## Setup\n\nsetup×30\n\n"


def test_every_section_gives_its_own_text_before_one_gives_what_is_below_it() -> None:
    shelf = Shelf(GUIDE)
    sections = [shelf.section("Setup"), shelf.section("Use")]
    own = sum(each[0].tokens + each[0].crumb_tokens for each in sections)
    assert [shown(each) for each in budgeted(shelf, own + 8, *sections)] == [
        "## Setup\n\nsetup×30\n\n",
        "## Use\n\nThe needle is here.\n\nuse×50\n\nAnother needle and a needle.\n\nmore×60\n",
    ]


def test_of_a_node_that_is_too_long_the_parts_with_most_matches_are_given() -> None:
    shelf = Shelf(GUIDE)
    [answer] = budgeted(shelf, 22, shelf.section("Use"))
    assert shown(answer) == "Another needle and a needle.\n\n"


def test_parts_stand_in_document_order_with_a_line_between_them() -> None:
    shelf = Shelf(GUIDE)
    [answer] = budgeted(shelf, 45, shelf.section("Use"))
    assert shown(answer) == "## Use\n\nThe needle is here.\n\n…\n\nAnother needle and a needle.\n\n"


def test_the_lines_between_parts_count() -> None:
    shelf = Shelf("# Many\n\nStart.\n\n" + f"needle\n\n{words(300)}\n\n" * 50)
    [answer] = budgeted(shelf, 250, shelf.section("Many"))
    assert answer
    assert answer.text.count("needle\n\n…\n\n") == answer.text.count("…") > 10
    assert answer.tokens >= COUNTER.count(answer.text)


def test_what_is_left_shows_more_around_it() -> None:
    shelf = Shelf(GUIDE)
    [answer] = budgeted(shelf, 105, shelf.section("Use"))
    assert shown(answer) == "## Use\n\nThe needle is here.\n\nuse×50\n\nAnother needle and a needle.\n\n"


def test_a_parent_that_matched_by_its_title_is_followed_from_its_start() -> None:
    shelf = Shelf(GUIDE)
    [answer] = budgeted(shelf, 80, shelf.section("Guide"))
    assert shown(answer) == "# Guide\n\nword×20\n\n## Setup\n\nsetup×30\n\n"


def test_a_heading_without_text_of_its_own_comes_with_what_follows_it() -> None:
    shelf = Shelf(f"# Guide\n\n## Setup\n\n### Linux\n\n{words(30)}\n\n{words(500)}\n")
    assert shown(budgeted(shelf, 60, shelf.section("Guide"))[0]) == "# Guide\n\n## Setup\n\n### Linux\n\nword×30\n\n"
    assert shown(budgeted(shelf, 60, shelf.section("Guide", "Setup"))[0]).startswith("# Guide\n\n## Setup\n\n### Linux")


def test_a_document_without_text_of_its_own_comes_with_what_follows_it() -> None:
    shelf = Shelf(f"# One\n\n{words(30)}\n\n# Two\n\n{words(500)}\n")
    [document, *_] = shelf.documents[0]
    assert not document.text
    assert shown(budgeted(shelf, 60, (document, (0,)))[0]) == "# One\n\nword×30\n\n"


def test_later_sections_use_what_is_left() -> None:
    name = words(20, "Large")
    shelf = Shelf(GUIDE, f"# Small\n\n{words(5)}\n", f"# {name}\n\n{words(500)}\n", f"# Last\n\n{words(3)}\n")
    sections = [shelf.section(title) for title in ("Use", name, "Small", "Last")]
    use, large, small, last = budgeted(shelf, 60, *sections)
    assert "needle" in shown(use)
    assert not large
    assert shown(small) == "# Small\n\nword×5\n"
    assert shown(last) == "# Last\n\nword×3\n"


def test_a_node_without_parts_is_cut_at_a_line() -> None:
    rows = "".join(f"| row {n} | {'needle' if n == 50 else 'hay'} |\n" for n in range(100))
    shelf = Shelf(f"# Table\n\n| n | what |\n|---|---|\n{rows}")
    [answer] = budgeted(shelf, 22, shelf.section("Table"))
    assert shown(answer) == "| row 50 | needle |\n| row 51 | hay |\n"


def test_a_long_line_is_cut_at_a_word() -> None:
    shelf = Shelf(f"# Line\n\n{words(500)} needle {words(500)}\n")
    [answer] = budgeted(shelf, 30, shelf.section("Line"))
    assert shown(answer) == "needle word×27"
    assert answer
    assert answer.tokens == COUNTER.count(answer.text) == 28


def test_a_word_that_is_too_long_alone_is_cut() -> None:
    shelf = Shelf(f"# Data\n\nneedle{'x7Qz' * 400} end\n")
    [answer] = budgeted(shelf, 30, shelf.section("Data"))
    assert answer
    assert re.fullmatch(r"needle(x7Qz)*\w{0,3}", answer.text)
    assert 20 < answer.tokens <= 28


def test_scripts_without_spaces_are_cut_at_a_character() -> None:
    shelf = Shelf(f"# T\n\nneedle {'如何安装' * 400}\n")
    [answer] = budgeted(shelf, 30, shelf.section("T"))
    assert answer
    assert answer.text.startswith("needle 如何安装如何安装")
    assert 20 < answer.tokens == COUNTER.count(answer.text) <= 28


def test_too_little_room_gives_nothing_rather_than_a_few_words() -> None:
    shelf = Shelf(f"# Line\n\n{words(500)} needle {words(500)}\n")
    section = shelf.section("Line")
    least = MIN_EXCERPT + section[0].crumb_tokens
    assert not any(budgeted(shelf, least - 1, section))
    [answer] = budgeted(shelf, least, section)
    assert answer
    assert answer.tokens == MIN_EXCERPT


@pytest.mark.parametrize(
    "text",
    [
        f"{words(30)}\n\n> see [needle](https://example.com/{'x1y2z3/' * 40})\n{words(200, 'more')}\n",
        f"{words(20)}\n\n{words(60)}\nneedle.\n",
        f"{words(500)} needle\n",
        f"needle {'x1y2z3' * 400}\n",
        f"a needle\nb\n{'x1y2z3' * 400}\n",
        f"{words(150)}\nab cd\nneedle\n",
    ],
)
@pytest.mark.parametrize("max_tokens", [MIN_EXCERPT + 2, 40, 80])
def test_what_is_cut_out_holds_the_match_and_more_than_a_scrap(text: str, max_tokens: int) -> None:
    document = quire.parse(f"# A\n\n{text}", path="0.md")
    nodes = build_nodes(document, "docs", COUNTER)
    [answer] = fit(
        [(nodes[1], (1,))],
        lambda _, first, last: nodes[first : last + 1],
        max_tokens=max_tokens,
        ranges=needles,
    )
    assert answer
    assert "needle" in answer.text
    assert MIN_EXCERPT // 2 <= COUNTER.count(answer.text) <= answer.tokens <= max_tokens - nodes[1].crumb_tokens


def test_a_match_that_is_too_long_itself_is_cut() -> None:
    shelf = Shelf(f"# Line\n\n{words(500, 'needle')}\n")
    section = shelf.section("Line")
    [answer] = fit([section], shelf.read, max_tokens=30, ranges=lambda text: [Span(8, len(text) - 1)])
    assert answer
    assert 20 < answer.tokens <= 30 - section[0].crumb_tokens


def test_the_best_gets_its_excerpt_before_others_get_theirs() -> None:
    shelf = Shelf(f"# Large\n\n{words(500)}\n", f"# Small\n\n{words(5)}\n")
    large, small = budgeted(shelf, 30, shelf.section("Large"), shelf.section("Small"))
    assert large
    assert not small


def test_nothing_has_room() -> None:
    shelf = Shelf(GUIDE)
    assert not any(budgeted(shelf, 1, shelf.section("Use")))
    assert not any(budgeted(shelf, 3, shelf.section("Use")))


def test_a_cut_piece_is_given_only_where_it_is_worth_it() -> None:
    shelf = Shelf(f"# Small\n\n{words(5)}\n", f"# Large\n\n{words(500)}\n")
    small, large = budgeted(shelf, 28, shelf.section("Small"), shelf.section("Large"))
    assert small
    assert not large
    _, large = budgeted(shelf, 40, shelf.section("Small"), shelf.section("Large"))
    assert large
    assert shown(large).startswith("# Large\n\nword×")


# ----------------------------------------------------------------------------------------------------------------------
# Laws
# ----------------------------------------------------------------------------------------------------------------------

texts = st.one_of(
    documents(), small_texts(max_size=120), st.lists(small_texts(max_size=60), max_size=8).map("\n\n".join)
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Shelf, list[Section]]:
    """Some documents, and for some of their nodes which below them matched."""
    shelf = Shelf(*draw(st.lists(texts, min_size=1, max_size=3)))
    sections = []
    for nodes in shelf.documents:
        for node in draw(st.lists(st.sampled_from(nodes), max_size=3, unique_by=lambda each: each.position)):
            inside = st.integers(node.position, node.last)
            sections.append((node, draw(st.lists(inside, min_size=1, max_size=5, unique=True))))
    return shelf, sections


def letters(text: str) -> list[Span]:
    """Matches that random texts hold."""
    return [Span(*found.span()) for found in re.finditer("[ab0]", text)]


@given(questions(), st.integers(1, 150))
def test_a_budget_is_never_passed(question: tuple[Shelf, list[Section]], max_tokens: int) -> None:
    shelf, sections = question
    answers = fit(sections, shelf.read, max_tokens=max_tokens, ranges=letters)
    assert cost(sections, answers) <= max_tokens
    given_texts = [(section[0], answer) for section, answer in zip(sections, answers, strict=True) if answer]
    assert sum(answer.tokens + node.crumb_tokens for node, answer in given_texts) <= max_tokens
    assert all(answer.tokens >= COUNTER.count(answer.text) for _, answer in given_texts)


@given(questions(), st.integers(1, 150))
def test_a_text_is_the_source_at_its_parts(question: tuple[Shelf, list[Section]], max_tokens: int) -> None:
    shelf, sections = question
    for section, answer in zip(sections, fit(sections, shelf.read, max_tokens=max_tokens, ranges=letters), strict=True):
        if not answer:
            continue
        source, node = shelf.source(section), section[0]
        pattern = r"\n{0,2}…\n\n".join(re.escape(source[start:end]) for start, end in answer.spans)
        assert re.fullmatch(pattern, answer.text)
        assert node.start <= answer.spans[0].start
        assert all(left.end < right.start for left, right in pairwise(answer.spans))
        assert answer.spans[-1].end <= node.full_end


@given(questions())
def test_without_a_budget_everything_is_given_whole(question: tuple[Shelf, list[Section]]) -> None:
    shelf, sections = question
    for section, answer in zip(sections, fit(sections, shelf.read), strict=True):
        assert answer.text == shelf.source(section)[section[0].start : section[0].full_end]
        assert answer.spans == (Span(section[0].start, section[0].full_end),)


@given(questions(), st.integers(1, 150))
def test_what_has_room_for_everything_is_given_whole(question: tuple[Shelf, list[Section]], spare: int) -> None:
    shelf, sections = question
    enough = sum(section[0].full_tokens + section[0].crumb_tokens for section in sections)
    texts = [answer.text for answer in fit(sections, shelf.read, max_tokens=enough + spare)]
    assert texts == [answer.text for answer in fit(sections, shelf.read)]


def test_a_document_with_a_byte_order_mark_above_its_heading_is_given_whole() -> None:
    shelf = Shelf("\ufeff# alpha\nalpha\n")
    node = shelf.section("alpha")[0]
    document = shelf.read(node.document_id, 0, 0)[0]
    room = document.full_tokens + document.crumb_tokens
    [answer] = fit([(document, [0])], shelf.read, max_tokens=room)
    assert answer.text == "\ufeff# alpha\nalpha\n"


def test_what_is_below_is_added_only_up_to_a_limit_of_its_own() -> None:
    shelf = Shelf(f"# Top\n\n{words(20)}\n\n## Below\n\n{words(300)}\n", f"# Other\n\n{words(200)}\n")
    sections = [shelf.section("Top"), shelf.section("Other")]
    top, other = fit(sections, shelf.read, max_tokens=1_000, max_below=400)
    assert shown(top) == "# Top\n\nword×20\n\n"
    assert shown(other) == "# Other\n\nword×200\n"
    top, other = fit(sections, shelf.read, max_tokens=1_000)
    assert "Below" in shown(top)
    assert shown(other) == "# Other\n\nword×200\n"
