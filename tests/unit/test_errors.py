"""Errors: what is wrong and what to do are apart, and all of it is there in another process."""

from __future__ import annotations

import copy
import pickle

import pytest

from quire import errors
from quire.errors import QuireError

ERRORS = [
    (QuireError("it is so", "do this"), "it is so; do this"),
    (QuireError("it is so"), "it is so"),
    (errors.OptionError("x=1 is invalid", "choose 2", option="x"), "x=1 is invalid; choose 2"),
    (errors.invalid_value("x", "é" * 99, "must be short"), f"x='{'é' * 79} is invalid: must be short"),
    (errors.InputError("a.md", "is gone", "look for it"), "a.md: is gone; look for it"),
    (errors.UndecodableError("a.md", "no text", 3, 9, "convert it"), "a.md: line 3, no text; convert it"),
    (errors.UndecodableError(path="a.md", problem="no text", line=3, offset=9), "a.md: line 3, no text"),
    (errors.GuardError("a.md", 3, "is empty", "correct it"), "a.md: line 3, is empty; correct it"),
    (errors.EmbedderError("it is gone", "look for it"), "it is gone; look for it"),
    (errors.TokenizerError("t cannot count", "take another"), "t cannot count; take another"),
    (errors.QueryError("a ) b", 2, "it closes nothing", "open it"), "it closes nothing; open it\n  a ) b\n    ^"),
    (errors.StoreError(".quire", "is full", "make room"), ".quire: is full; make room"),
    (errors.IndexDamagedError(".quire", "is damaged", "run: quire index"), ".quire: is damaged; run: quire index"),
    (errors.BusyError(".quire", "is being written", "wait"), ".quire: is being written; wait"),
    (errors.MissingExtraError("chroma"), "chroma is not installed; install it: pip install 'quire-md[chroma]'"),
    (errors.NotFoundError("a.md: not there", "run: quire outline"), "a.md: not there; run: quire outline"),
]


def test_all_errors_are_looked_at() -> None:
    named = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, QuireError)}
    assert {type(error) for error, _ in ERRORS} == {kind for kind in named if not kind.__name__.startswith("_")}


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_an_error_is_one_sentence_of_its_parts(error: QuireError, text: str) -> None:
    assert str(error) == text
    assert error.message == "; ".join(filter(None, [error.problem, error.advice]))
    assert error.reason.endswith(error.message)


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_an_error_is_the_same_in_another_process(error: QuireError, text: str) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (str(again), vars(again), again.args) == (text, vars(error), error.args)


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_other_advice_is_another_error(error: QuireError, text: str) -> None:
    other = error.advising("ask")
    assert {**vars(other), "advice": error.advice} == vars(error)
    assert other.message == pickle.loads(pickle.dumps(other)).message == f"{error.problem}; ask"
    assert str(error) == text
