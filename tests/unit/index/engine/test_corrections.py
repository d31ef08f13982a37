"""To what a word is corrected that occurs nowhere: as documents write it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import quire
from quire.search.index_api import Index


def _index(folder: Path, texts: Iterable[str], language: str = "english") -> Index:
    (folder / "docs").mkdir()
    for number, text in enumerate(texts):
        (folder / "docs" / f"{number}.md").write_text(f"# T\n\n{text}\n", encoding="utf-8")
    index = Index.open(folder / "index")
    index.update({"docs": folder / "docs"}, languages={"docs": language})
    return index


@pytest.mark.parametrize(
    ("language", "written", "typed"),
    [
        ("german", "Größe", "Größße"),
        ("french", "développement", "dévelopement"),
        ("french", "brûlée", "brûléee"),
        ("spanish", "configuración", "configurración"),
        ("swedish", "återställning", "återstälning"),
        ("none", "café", "caféé"),
        ("english", "Müller", "Mülller"),
        ("english", "señorita", "señoritta"),
        ("english", "configuração", "configuraçãoo"),
        ("english", "δοκιμή", "δοκμή"),
        ("english", "δοκιμή", "δοκιμην"),
        ("greek", "αυτοκίνητο", "αυτοκνητο"),
        ("none", "αυτοκίνητο", "αυτοκήνητο"),
    ],
    ids=lambda each: each,
)
def test_a_word_with_accents_is_corrected_as_documents_write_it(
    tmp_path: Path, language: str, written: str, typed: str
) -> None:
    results = _index(tmp_path, [f"{written} text"], language).search(typed)
    assert results.corrections == {typed: (written.lower(),)}
    [hit] = results
    assert [hit.text[slice(*span)] for span in quire.match_ranges(hit, typed, results.corrections)] == [written]


def test_of_two_words_that_accents_tell_apart_that_is_named_which_is_nearest(tmp_path: Path) -> None:
    index = _index(tmp_path, ["Die große Größe, grosse"], "german")
    assert index.search("größße").corrections == {"größße": ("größe",)}
    assert index.search("großße").corrections == {"großße": ("große",)}


def test_a_rare_form_of_a_frequent_stem_is_found(tmp_path: Path) -> None:
    rare = "The accessibility of this page, at length, with many words around it so that it scores less."
    results = _index(tmp_path, [*["access access access"] * 120, rare]).search("accessibilty")
    assert results.corrections == {"accessibilty": ("accessibility",)}
    assert results
