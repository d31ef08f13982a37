"""The benchmark's questions can be read, and their answers exist."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.evals.questions import read_questions
from support import shared

QUESTIONS = Path(__file__).parents[2] / "benchmarks" / "questions"


@shared.needs_shared
@pytest.mark.parametrize(("name", "folder"), [("kubernetes", "k8s"), ("docker", "docker")])
def test_every_answer_exists(name, folder) -> None:
    documents = shared.shared_data() / "linkqa" / folder
    questions = read_questions(QUESTIONS / f"{name}.jsonl", name)
    assert len({each.query for each in questions}) == 30
    for path, _, slug in (answer.partition("#") for each in questions for answer in each.answers):
        document = quire.parse((documents / path).read_text("utf-8"), path=path)
        assert not slug or slug in {section.slug for section in document.sections}
