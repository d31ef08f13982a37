"""The scripts that speak for other tools: each on a page whose right answer is written by hand."""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise

import pytest
from benchmarks import fts5_table, indexing, search_cost
from benchmarks.peers import MODULES, load, report, speed
from benchmarks.peers.judge import Verdict
from benchmarks.peers.record import CAP, Peer, Piece, count

BEFORE = "---\ntitle: Guide\n---\n\nBefore.\n\n"
ONE = "# One\n\nText of one.\n\n```sh\n# no heading\n```\n\n"
TWO = "## Two\n\nText of two.\n"
PAGE = BEFORE + ONE + TWO
LONG = "".join(f"# {name}\n\n{'The same words again and again. ' * 50}\n\n" for name in ("One", "Two", "Three"))

RECURSIVE = ("chonkie, recursive, Markdown rules", "LangChain, recursive, Markdown separators")
RECURSIVE += ("semantic-text-splitter",)
BY_HEADING = ("Haystack, headers", "Haystack, headers then recursive", "LangChain, headers then recursive")
BY_HEADING += ("LlamaIndex, headers", "LlamaIndex, headers then sentences")
PEERS, MISSING = load()


def peer_named(name: str) -> Peer:
    peer = next((peer for peer in PEERS if peer.name == name), None)
    if peer is None:
        pytest.skip(f"not installed: {', '.join(MISSING)}")
    return peer


def pieces(name: str, page: str) -> list[Piece]:
    """A peer's chunks of ``page``, the same with every counter that it takes."""
    peer = peer_named(name)
    found = list(peer.output(page, peer.make()(page)).pieces)
    assert peer.given is None or list(peer.output(page, peer.given()(page)).pieces) == found
    return found


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", [*RECURSIVE, "semchunk", "chonkie, sentences"])
def test_a_page_that_fits_is_one_chunk(name) -> None:
    [piece] = pieces(name, PAGE)
    assert piece.text.strip() == PAGE.strip()
    assert piece.start in (0, None)


@pytest.mark.parametrize("name", BY_HEADING)
def test_a_page_is_cut_at_its_headings_and_not_in_code(name) -> None:
    found = pieces(name, PAGE)
    assert [squeezed(piece.text) for piece in found] == [squeezed(part) for part in (BEFORE, ONE, TWO)]
    assert {title for piece in found for title in piece.headings} == {"One", "Two"}


@pytest.mark.parametrize("name", RECURSIVE)
def test_sections_of_which_no_two_fit_are_a_chunk_each(name) -> None:
    starts = [LONG.index(f"# {title}") for title in ("One", "Two", "Three")]
    sections = [LONG[start:end].strip() for start, end in pairwise([*starts, len(LONG)])]
    assert [count(section) * 2 > CAP > count(section) for section in sections] == [True] * 3
    assert [piece.text.strip() for piece in pieces(name, LONG)] == sections


def test_sections_of_fts5_end_at_the_next_heading() -> None:
    found = list(fts5_table.sections(PAGE))
    assert [(title, text) for title, _, _, text in found] == [
        ("Guide", BEFORE.strip()),
        ("One", ONE.strip()),
        ("Two", TWO.strip()),
    ]
    assert all(PAGE[start:end].strip() == text for _, start, end, text in found)


def test_the_script_beside_indexing_cuts_before_every_line_that_looks_like_a_heading() -> None:
    code = ONE.index("# no")
    assert indexing.parts(PAGE) == [BEFORE, ONE[:code], ONE[code:], TWO]


@pytest.mark.parametrize("name", [*RECURSIVE, "semchunk", "chonkie, sentences", "LangChain, headers then recursive"])
def test_as_its_users_run_it_a_peer_counts_with_tiktoken_and_else_with_quire(name, monkeypatch) -> None:
    """The page is above the cap, so its tokens must be counted."""
    peer = peer_named(name)
    asked: list[str] = []
    for module in map(importlib.import_module, (f"benchmarks.peers.{each}" for each in MODULES[1:])):
        if hasattr(module, "count"):
            monkeypatch.setattr(module, "count", lambda text: asked.append(text) or count(text))
    langchain = importlib.import_module("benchmarks.peers.langchain")
    monkeypatch.setitem(langchain.GIVEN.keywords, "length_function", langchain.count)
    peer.make()(LONG)
    assert asked == []
    assert peer.given is not None
    peer.given()(LONG)
    assert asked


def test_semchunk_remembers_nothing_from_round_to_round() -> None:
    peer = peer_named("semchunk")
    for make in (peer.make, peer.given):
        chunkers = [make().__closure__[0].cell_contents for _ in range(2)]
        chunkers[0](LONG)
        assert chunkers[0].token_counter.cache_info().currsize > 0
        assert chunkers[1].token_counter.cache_info().currsize == 0


class Cutter:
    """A tool that takes so many CPU seconds for each character."""

    def __init__(self, seconds: float, clock: list[float]) -> None:
        self._seconds, self._clock = seconds, clock

    def __call__(self, text: str) -> None:
        self._clock[0] += self._seconds * len(text)


def test_speed_is_the_sum_of_the_best_cpu_times(monkeypatch) -> None:
    """Two documents of 2 and 3 characters: at 1, then 4 seconds a character 5 seconds, as the best round counts."""
    clock, rounds = [0.0], iter([1.0, 4.0])
    monkeypatch.setattr(speed.time, "process_time", lambda: clock[0])
    makers = {"slower later": lambda: Cutter(next(rounds), clock), "half": lambda: Cutter(0.5, clock)}
    times = speed.measure(makers, [("a.md", "ab"), ("b.md", "abc")], 2)
    assert {name: times.seconds[name] for name in makers} == {"slower later": 5.0, "half": 2.5}
    assert times.failures == {}


def test_the_table_has_both_columns_in_times_of_packed() -> None:
    def row(name: str, seconds: float, given: float | None) -> report.Row:
        peer = Peer(name, (), lambda: str, lambda _, raw: raw, None, note=f"About {name}.")
        return report.Row(peer, seconds, given, Verdict(chunks=1_200, over=3))

    rows = [row(report.BASE, 2.0, 2.0), row("other", 5.0, 1.0), row("own counter", 4.0, None)]
    lines = list(report._speeds(rows, [0.5, 0.25], 10.0, 3))
    assert "| quire `packed` | 1.00 | 1.00 | 5.0 | 1,200 | 3 |" in lines
    assert "| other | 2.50 | 0.50 | 2.0 | 1,200 | 3 |" in lines
    assert "| own counter | 2.00 | – | 2.5 | 1,200 | 3 |" in lines
    assert "- **other**: About other." in lines


def test_a_table_of_fts5_finds_any_word_and_titles_first(tmp_path) -> None:
    connection = fts5_table.table(tmp_path / "table", [PAGE, "# Other\n\nText of two and one.\n"])
    assert fts5_table.search(connection, "heading, nowhere", 10) == [(2, ONE.strip())]
    assert [row for row, _ in fts5_table.search(connection, "two", 10)] == [3, 4]
    assert fts5_table.search(connection, "?!", 10) == []


def test_the_cost_of_a_command_is_its_cpu_time(tmp_path) -> None:
    (tmp_path / "a.md").write_text(PAGE)
    script = (sys.executable, "-m", "benchmarks.fts5_table")
    variables = {"PYTHONPATH": str(search_cost.ROOT)}
    assert 0 < search_cost.spent((*script, "build", tmp_path / "table", tmp_path), variables) < 60
    assert 0 < search_cost.spent((*script, "search", tmp_path / "table", "heading"), variables) < 60
    failing = "import sys; print('broken', file=sys.stderr); sys.exit(2)"
    with pytest.raises(RuntimeError, match="broken"):
        search_cost.spent((sys.executable, "-c", failing), {})
