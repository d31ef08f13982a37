"""Counts are tiktoken's, whoever counts: each engine, byte pairs in Python, and the counter that changes between them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.tokens import hostile

from quire.errors import TokenizerError
from quire.model.offsets import repaired
from quire.tokens import byte_pairs, encodings
from quire.tokens.byte_pairs import NO_RANK, BytePairs
from quire.tokens.encodings import PYTHON_WORK, EncodingCounter
from quire.tokens.openai_models import ENCODINGS

Reference = Callable[[str], Callable[[str], int]]
NASTY = st.text(
    st.one_of(
        st.sampled_from(
            "aAzZ019 \t\n\r\x0b\x0c\x85\xa0\u2028\u3000/!'.-_#|`*sStTéÉªſǅ’—→中あ한नि\u0301\u200d😀🏽\ud800\udfff\x00"
        ),
        st.characters(),
    )
)


@pytest.fixture(scope="module", params=ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected(encoding: str, reference: Reference) -> Callable[[str], int]:
    return reference(encoding)


@pytest.fixture(scope="module", params=encodings.ENGINES)
def engine(encoding: str, request: pytest.FixtureRequest) -> Callable[[str], int]:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    count = encodings.ENGINES[request.param](encoding)
    return lambda text: count(repaired(text))


@pytest.fixture(scope="module")
def tireless(encoding: str) -> BytePairs:
    return BytePairs(encoding, 1 << 60)


@pytest.fixture(scope="session")
def counts_of(reference: Reference, documents: list[str]) -> Callable[[str], list[int]]:
    """An encoding's name -> the reference's counts of the documents, which take long."""
    return cache(lambda name: [*map(reference(name), documents)])


@pytest.fixture
def expected_counts(counts_of: Callable[[str], list[int]], encoding: str) -> list[int]:
    return counts_of(encoding)


def test_engines_on_documents(engine: Callable[[str], int], documents: list[str], expected_counts: list[int]) -> None:
    assert [engine(text) for text in documents] == expected_counts


@pytest.mark.parametrize("text", hostile.STRINGS)
def test_engines_on_hostile_text(engine: Callable[[str], int], expected: Callable[[str], int], text: str) -> None:
    assert engine(text) == expected(text)


def test_byte_pairs_on_documents(tireless: BytePairs, documents: list[str], expected_counts: list[int]) -> None:
    counts = [tireless.count(text) for text in documents]
    known = [(count, right) for count, right in zip(counts, expected_counts, strict=True) if count is not None]
    assert len(known) > 0.95 * len(documents)
    assert all(count == right for count, right in known)


@pytest.mark.parametrize("text", hostile.STRINGS)
def test_byte_pairs_on_hostile_text(tireless: BytePairs, expected: Callable[[str], int], text: str) -> None:
    assert tireless.count(text) in (expected(text), None)


CONTEXTS = ("{}", "a{}a", "A{}B", "!{}!", "1{}1", " {} ", "x {}y", "\n{}\n", "'{}", "a'{}", "  {}", "{0}{0}", "!{}/")


def test_byte_pairs_on_every_character_it_knows(tireless: BytePairs, expected: Callable[[str], int]) -> None:
    alike = {code for first, last in byte_pairs.ALPHABETS[-1] for code in range(first, last + 1) if last - first > 4096}
    codes = [code for first, last in byte_pairs.ALPHABETS[-1] for code in range(first, last + 1)]
    for code in (code for code in codes if code not in alike or code % 97 == 0):
        text = "\n".join(context.format(chr(code)) for context in CONTEXTS)
        assert tireless.count(text) == expected(text), hex(code)


@settings(max_examples=400, deadline=None)
@given(NASTY)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_any_text(reference: Reference, encoding: str, text: str) -> None:
    right = reference(encoding)(text)
    assert EncodingCounter(encoding).count(text) == right
    assert BytePairs(encoding, 1 << 60).count(text) in (right, None)


def test_the_change_of_engine_changes_no_count(encoding: str, expected: Callable[[str], int]) -> None:
    counter = EncodingCounter(encoding)
    text = "".join(f"Line {number} of a document, with wordlike{number}things.\n" for number in range(2000))
    answers = {counter.count(text) for _ in range(PYTHON_WORK[encoding] // len(text) + 2)}
    assert answers == {expected(text)}
    assert counter._python is None


@pytest.mark.parametrize("text", hostile.STRINGS)
def test_counter_on_hostile_text(encoding: str, expected: Callable[[str], int], text: str) -> None:
    assert EncodingCounter(encoding).count(text) == expected(text)


def uninstall(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)


def test_a_little_text_loads_no_engine(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uninstall(monkeypatch, *encodings.ENGINES)
    assert EncodingCounter(encoding).count("# A “little” text – in a café\n") == 11


def test_tiktoken_counts_where_toktok_is_missing(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    uninstall(monkeypatch, "toktok")
    assert encodings.load(encoding)("A short text.") == 4


def test_without_any_engine_the_error_says_what_to_do(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uninstall(monkeypatch, *encodings.ENGINES)
    with pytest.raises(TokenizerError, match=r"pip install toktok-rs.*tokenizer='estimate'"):
        EncodingCounter(encoding).count("\U00010330")


def test_tiktoken_refuses_what_would_make_it_panic() -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    count = encodings.ENGINES["tiktoken"]("cl100k_base")
    with pytest.raises(TokenizerError, match="1000000 characters of white space"):
        count("a" + " " * 1_000_000 + "b")
    assert count("ab " * 200_000) == 200_001


def test_the_vocabulary_files_hold_what_openai_publishes(encoding: str, reference: Reference) -> None:
    reference(encoding)
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    ranks = tiktoken.get_encoding(encoding)._mergeable_ranks
    vocabulary = byte_pairs.Vocabulary(encoding)
    tokens = list(vocabulary.items())
    assert dict(tokens) == ranks
    assert [token for token, _ in tokens] == sorted(ranks, key=lambda token: (len(token), token))


@pytest.mark.parametrize(("token", "rank"), [(b"!", 0), (b"", NO_RANK), (b"\xff\xff", NO_RANK), (b"x" * 200, NO_RANK)])
def test_ranks(encoding: str, token: bytes, rank: int) -> None:
    assert byte_pairs.Vocabulary(encoding).rank(token) == rank


def test_byte_pairs_stop_when_their_work_is_done(encoding: str) -> None:
    counter = BytePairs(encoding, 100)
    assert counter.count("the " * 10) == 11
    assert counter.count("the " * 10) == 11
    assert counter.count("the " * 10) is None


def test_byte_pairs_leave_long_matches_alone(encoding: str) -> None:
    counter = BytePairs(encoding, 1 << 60)
    assert counter.count("x" * byte_pairs.LONGEST_MATCH) is not None
    assert counter.count("x" * (byte_pairs.LONGEST_MATCH + 1)) is None
