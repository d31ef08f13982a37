"""The same documents give the same answers, whatever the number of processes and threads that index them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from quire import Index

WORDS = [f"{first}o{second}e" for first in "bdfgklmnpr" for second in "bdklmnprst"]


def write_pages(folder: Path, rng: Random) -> None:
    """Pages with few different sections, so that many have equal scores."""
    sections = [f"## {rng.choice(WORDS)}\n\n{' '.join(rng.choices(WORDS, k=12))}.\n\n" for _ in range(60)]
    folder.mkdir()
    for number in range(120):
        links = f"[{rng.choice(WORDS)}](page{rng.randrange(120)}.md)"
        text = f"# {rng.choice(WORDS)}\n\n{links}\n\n{''.join(rng.choices(sections, k=6))}"
        (folder / f"page{number}.md").write_text(text, encoding="utf-8")


def test_three_indexes_give_the_same_400_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(28)
    write_pages(tmp_path / "docs", rng)
    queries = [" ".join(rng.choices(WORDS, k=rng.randint(1, 4))) for _ in range(390)]
    queries += [
        "tree:docs",
        "path:page1*",
        "bobe*",
        "bobe OR dode -fofe",
        '"bobe dode"',
        "title:bobe",
        "bobee",
        "kode^3 bobe",
    ]
    queries += ["path:page", "noke (boke OR doke)"]
    monkeypatch.setattr("quire.index.update._BYTES_PER_THREADS", 1)  # the engine uses several threads
    answers = []
    for jobs in (1, 2, 3):
        with Index.open(tmp_path / f"index-{jobs}") as index:
            index.update({"docs": tmp_path / "docs"}, jobs=jobs)
            answers.append([repr(list(index.search(query, explain=not at % 10))) for at, query in enumerate(queries)])
    assert len(queries) == 400
    assert answers[0] == answers[1] == answers[2]


def test_processes_give_the_same_scores(tmp_path: Path) -> None:
    """Sets have another order in each process, and a sum in another order may differ in its last digit."""
    rng = Random(7)
    (tmp_path / "docs").mkdir()
    names = [rng.sample(WORDS, 6) for _ in range(20)]
    for number, words in enumerate(names):
        for length in (4, 5, 6):
            text = f"# {' '.join(words[:length])}\n\n{' '.join(rng.choices(WORDS, k=5 + number))}.\n"
            (tmp_path / "docs" / f"{number}-{length}.md").write_text(text)
    titles = [" ".join(words) for words in names]
    with Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
    script = "import sys, quire; index = quire.Index.open(sys.argv[1])\nfor title in sys.argv[2:]:\n"
    script += "    print([hit.score for hit in index.search(title, explain=True)])"
    command = [sys.executable, "-c", script, str(tmp_path / "index"), *titles]
    answers = {
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in "0123"
    }
    assert len(answers) == 1
