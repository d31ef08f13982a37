"""Every store, for real: what is embedded, written and deleted, and what is left alone."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import quire
from integrations.native import Place, is_folder
from quire.cli import main
from quire.embed.embedder import FunctionEmbedder
from support.embedding_server import serving

pytest.importorskip("numpy")

from quire.model.options import DEFAULT_TOKENIZER
from quire.run.parts import parts_of
from quire.stores import Documents, SyncReport, sync
from quire.tokens import tokenizers


class Model:
    """Vectors that tell texts apart, and a list of what was embedded."""

    name, window, batch = "test", 0, 2

    def __init__(self, version: str = "1", size: int = 4) -> None:
        self.version = version
        self.size = size
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return [vector(text, self.size) for text in texts]


def vector(text: str, size: int = 4) -> list[float]:
    numbers = [1.0 + sum(map(ord, text[at::size])) % 97 for at in range(size)]
    length = sum(number * number for number in numbers) ** 0.5
    return [number / length for number in numbers]


def synced(
    docs: Path | Documents, place: Place, model: Model | None = None, **options: Any
) -> tuple[SyncReport, list[str]]:
    """What a sync of sections reports, and the texts that it embedded."""
    model = model or Model()
    report = sync(docs, place.target, embedder=model, strategy="tree", **{"delete": True, **options})
    return report, model.texts


def check(docs: Path, place: Place, size: int = 4) -> None:
    """The store has what the documents have, and nothing else."""
    expected = {
        chunk.id: (chunk.embed_text, chunk.source_position.char_start, list(chunk.header_path))
        for chunks in quire.chunk_dir(docs, "tree")
        for chunk in chunks
    }
    rows = place.rows()
    assert {row["chunk_id"]: (row["text"], row["char_start"], list(row["header_path"])) for row in rows} == expected
    assert len(rows) == len(expected)
    for row in rows:
        assert list(row["vector"]) == pytest.approx(vector(row["text"], size), abs=1e-6)


@contextmanager
def stopped_after(place: Place, operation: str, table: str) -> Iterator[None]:
    """A sync in this block ends after its first such operation on a table."""
    store = import_module(f"quire.stores.{place.kind}").connect
    original = getattr(store, operation)

    def stopping(self: Any, name: str, *values: Any, **options: Any) -> None:
        original(self, name, *values, **options)
        if name == table:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, operation, stopping)
        with pytest.raises(KeyboardInterrupt):
            yield


def as_texts(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(str(sorted(row.items())) for row in rows)


def test_the_first_sync_writes_everything_and_the_second_nothing(docs: Path, place: Place) -> None:
    report, texts = synced(docs, place)
    assert (report.added, report.rows, report.embedded, len(texts)) == (3, 8, 8, 8)
    check(docs, place)
    report, texts = synced(docs, place)
    assert (report.unchanged, report.rows, texts) == (3, 0, [])
    check(docs, place)


def test_documents_without_text_are_added_once(docs: Path, place: Place) -> None:
    for file in docs.rglob("*.md"):
        file.write_text("")
    assert synced(docs, place)[0].added == 3
    for _ in range(2):
        report, _ = synced(docs, place)
        assert (report.added, report.changed, report.unchanged) == (0, 0, 3)
    (docs / "a.md").write_text("# A\n\nText.\n")
    report, texts = synced(docs, place)
    assert (report.added, report.changed, report.unchanged, len(texts)) == (0, 1, 2, 1)
    check(docs, place)
    assert synced(docs, place)[0].unchanged == 3


def test_an_edit_embeds_the_edited_section_only(docs: Path, place: Place) -> None:
    synced(docs, place)
    file = docs / "a.md"
    file.write_text(file.read_text().replace("Alpha.", "Alpha, and more of it."))
    report, texts = synced(docs, place)
    assert (report.changed, report.unchanged, [text.splitlines()[-1] for text in texts]) == (
        1,
        2,
        ["Alpha, and more of it."],
    )
    check(docs, place)


def test_a_renamed_file_embeds_nothing(docs: Path, place: Place) -> None:
    synced(docs, place)
    (docs / "a.md").rename(docs / "guides" / "z.md")
    report, texts = synced(docs, place)
    assert (report.added, report.removed, texts) == (1, 1, [])
    check(docs, place)


def test_a_section_that_moves_to_another_document_with_its_headings_embeds_nothing(docs: Path, place: Place) -> None:
    synced(docs, place)
    (docs / "z.md").write_text((docs / "a.md").read_text() + "\n## More\n\nNew.\n")
    (docs / "a.md").write_text("# A\n\nOnly this.\n")
    _, texts = synced(docs, place)
    assert [text.splitlines()[-1] for text in texts] == ["Only this.", "New."]
    check(docs, place)


def test_a_deleted_document_disappears(docs: Path, place: Place) -> None:
    synced(docs, place)
    (docs / "guides" / "b.md").unlink()
    report, texts = synced(docs, place)
    assert (report.removed, texts) == (1, [])
    check(docs, place)


def test_a_document_that_comes_back_after_a_stopped_removal_has_rows(docs: Path, place: Place) -> None:
    synced(docs, place)
    text = (docs / "a.md").read_text()
    (docs / "a.md").unlink()
    with stopped_after(place, "delete", "vectors"):
        synced(docs, place)
    (docs / "a.md").write_text(text)
    synced(docs, place)
    check(docs, place)
    assert synced(docs, place)[0].unchanged == 3


def test_another_model_replaces_all_vectors_at_once(docs: Path, place: Place) -> None:
    synced(docs, place)
    before = place.rows()

    class Broken(Model):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if self.texts:
                raise quire.EmbedderError("it is down")
            return super().embed(texts)

    with pytest.raises(quire.EmbedderError):
        synced(docs, place, Broken("2", 6))
    assert as_texts(place.rows()) == as_texts(before)
    report, texts = synced(docs, place, Model("2", 6))
    assert (report.is_new_generation, len(texts)) == (True, 6)  # two were written before it broke
    check(docs, place, 6)
    assert not {each for each in place.tables() if each.endswith("__next")}
    report, texts = synced(docs, place, Model("2", 6))
    assert (report.is_new_generation, texts) == (False, [])
    assert len([each for each in place.tables() if each.startswith("vectors")]) <= 3


def test_a_half_made_generation_is_dropped_when_the_model_changes_again(docs: Path, place: Place) -> None:
    synced(docs, place)

    class Broken(Model):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if self.texts:
                raise quire.EmbedderError("it is down")
            return super().embed(texts)

    with pytest.raises(quire.EmbedderError):
        synced(docs, place, Broken("2", 6))
    synced(docs, place, Model("3", 5))
    check(docs, place, 5)
    with pytest.raises(quire.EmbedderError):
        synced(docs, place, Broken("4", 6))
    report, texts = synced(docs, place, Model("3", 5))
    assert (report.unchanged, texts) == (3, [])
    check(docs, place, 5)
    assert len([each for each in place.tables() if each.startswith("vectors")]) <= 3


def test_what_the_log_says_of_a_table_that_is_gone_does_not_count(docs: Path, place: Place) -> None:
    parts = [part._replace(options={"strategy": "tree"}) for part in parts_of(str(docs), size=1)[0]]
    documents = Documents(parts, root=str(docs))
    synced(documents, place)
    with stopped_after(place, "publish", "vectors"):
        synced(documents, place, Model("2", 6))
    check(docs, place, 6)
    with stopped_after(place, "write", "vectors__next"):  # one of three documents has rows, at most
        synced(documents, place)
    synced(documents, place)
    check(docs, place)
    assert synced(documents, place)[0].unchanged == 3


def test_filters(docs: Path, place: Place) -> None:
    synced(docs, place)
    assert place.filtered("source_path", "guides/b.md") == {
        "doc:guides/b.md",
        "doc:guides/b.md#b",
        "doc:guides/b.md#install",
    }
    assert place.filtered("header_path", "Install") == {"doc:a.md#install", "doc:guides/b.md#install"}
    assert place.filtered("tags", "linux") == {"doc:a.md", "doc:a.md#a", "doc:a.md#install", "doc:a.md#use"}
    assert place.filtered("breadcrumb", "A > Use") == {"doc:a.md#use"}


def test_a_row_knows_its_section(docs: Path, place: Place) -> None:
    """Its id, where it is with all below it, and how large that is; ``expand`` takes the rows."""
    sync(docs, place.target, embedder=Model(), max_tokens=40, target_tokens=12, join_tokens=1, min_tokens=0)
    rows = {row["chunk_id"]: row for row in place.rows()}
    text = (docs / "a.md").read_text()
    count = tokenizers.resolve(None, DEFAULT_TOKENIZER).count
    for row in rows.values():
        assert row["section_start"] <= row["char_start"] < row["char_end"] <= row["section_end"]
        section = (docs / row["source_path"]).read_text()[row["section_start"] : row["section_end"]]
        assert row["section_tokens"] == count(section)
    install = next(row for row in rows.values() if row["section_id"] == "doc:a.md#install")
    assert text[install["section_start"] : install["section_end"]] == "## Install\n\nRun it.\n\n"
    top = next(row for row in rows.values() if row["section_id"] == "doc:a.md#a")
    assert text[top["section_start"] : top["section_end"]] == text[text.index("# A") :]
    expanded = quire.expand([install, rows["doc:c::ch0"]], docs)
    assert [chunk.node_id for chunk in expanded] == ["doc:a.md#install", "doc:c.md"]


def test_unchanged_files_are_not_read(docs: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(file: Path) -> bytes:
        read.append(file.name)
        return Path(file).read_bytes()

    monkeypatch.setattr("quire.run.parts.read_bytes", reading)
    time.sleep(0.1)  # a file that was just written may change and keep its times
    synced(docs, place)
    read.clear()
    assert (synced(docs, place)[0].unchanged, read) == (3, [])
    assert (synced(docs, place, slugs="ascii")[0].changed, sorted(set(read))) == (3, ["a.md", "b.md", "c.md"])
    synced(docs, place)
    (docs / "a.md").write_text((docs / "a.md").read_text().replace("Alpha", "Aleph"))  # as long as before
    read.clear()
    report, _ = synced(docs, place)
    assert (report.changed, report.unchanged, set(read)) == (1, 2, {"a.md"})
    check(docs, place)
    (docs / "c.md").touch()
    time.sleep(0.1)
    for expected in (["c.md"], []):
        read.clear()
        assert (synced(docs, place)[0].unchanged, [name for name in read if name != "a.md"]) == (3, expected)


def test_a_file_that_was_just_written_is_read_again(docs: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.stores.sync_documents.is_racy", lambda *_: True)
    synced(docs, place)
    status = (docs / "c.md").stat()
    (docs / "c.md").write_text("Delta, without a heading.\n")
    os.utime(docs / "c.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert synced(docs, place)[0].changed == 1
    check(docs, place)


def test_long_texts_are_embedded_in_passages(docs: Path, place: Place) -> None:
    text = "\n\n".join(f"Paragraph {number} has some words in it, and then some more." for number in range(40))
    (docs / "c.md").write_text(f"# C\n\n{text}\n")
    made: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        made.extend(texts)
        return [vector(each) for each in texts]

    model = FunctionEmbedder(embed, name="short", window=64)
    assert sync(docs, place.target, embedder=model, max_tokens=1024).cut == 1
    rows = sorted((row for row in place.rows() if row["source_path"] == "c.md"), key=lambda row: row["passage"])
    assert len(rows) > 3
    assert [row["passage"] for row in rows] == list(range(len(rows)))
    assert {row["chunk_id"] for row in rows} == {"doc:c::ch0"}
    assert "".join("".join(row["text"] for row in rows).split()) == "".join(f"#C{text}".split())
    count = len(made)
    (docs / "c.md").rename(docs / "d.md")
    sync(docs, place.target, embedder=model, delete=True, max_tokens=1024)
    assert len(made) == count


def test_a_dry_run_says_what_a_sync_does_and_writes_nothing(docs: Path, place: Place) -> None:
    dry, texts = synced(docs, place, dry_run=True)
    assert not is_folder(place)
    assert (texts, place.rows()) == ([], [])
    assert dry == synced(docs, place)[0]
    assert dry.tokens == sum(
        chunk.token_stats.embed_tokens for chunks in quire.chunk_dir(docs, "tree") for chunk in chunks
    )
    file = docs / "a.md"
    file.write_text(file.read_text().replace("Alpha.", "Other."))
    (docs / "c.md").unlink()
    (docs / "guides" / "b.md").rename(docs / "b.md")
    before = place.rows()
    dry, texts = synced(docs, place, dry_run=True)
    assert (dry.added, dry.changed, dry.removed, dry.embedded, texts) == (1, 1, 2, 1, [])
    assert as_texts(place.rows()) == as_texts(before)
    assert dry == synced(docs, place)[0]
    assert synced(docs, place, Model("2"), dry_run=True)[0].is_new_generation
    check(docs, place)


def test_a_sync_that_removes_much_needs_permission(docs: Path, place: Place) -> None:
    synced(docs, place)
    before, asked = as_texts(place.rows()), []
    refused = r"a sync of .*guides would delete 3 of its 3 documents, which are those of .*docs; allow it with --delete"
    with pytest.raises(quire.StoreError, match=refused):
        synced(docs / "guides", place, delete=False)
    with pytest.raises(quire.StoreError, match=refused):
        synced(docs / "guides", place, delete=asked.append)
    assert [question.endswith("Delete them?") for question in asked] == [True]
    with pytest.raises(quire.StoreError, match=refused):  # a new model replaces all rows, too
        synced(docs / "guides", place, Model("2"), delete=False)
    assert as_texts(place.rows()) == before
    assert synced(docs / "guides", place, delete=False, dry_run=True)[0].removed == 3
    assert synced(docs / "guides", place, delete=lambda _: True)[0].removed == 3
    check(docs / "guides", place)


def test_a_store_remembers_which_folder_it_mirrors(docs: Path, place: Place) -> None:
    for number in range(7):
        (docs / f"{number}.md").write_text(f"# {number}\n\nText.\n")
    synced(docs, place, delete=False)
    (docs / "0.md").unlink()
    (docs / "1.md").unlink()
    assert synced(docs, place, delete=False)[0].removed == 2  # a fifth, and no more
    copy = docs.parent / "copy"
    shutil.copytree(docs, copy)
    assert synced(copy, place, delete=False)[0].unchanged == 8  # nothing is lost
    (docs / "2.md").unlink()
    with pytest.raises(quire.StoreError, match=r"would delete 1 of its 8 documents, which are those of .*copy"):
        synced(docs, place, delete=False)
    assert synced(docs, place)[0].removed == 1
    check(docs, place)


def test_the_key_of_a_row_is_the_stable_id_of_its_chunk(docs: Path, place: Place) -> None:
    (docs / "a.txt").write_text((docs / "a.md").read_text())  # two documents with equal texts and anchors
    synced(docs, place)
    chunks = [chunk for chunks in quire.chunk_dir(docs, "tree") for chunk in chunks]
    assert len(place.rows()) == len(chunks)
    assert {row["id"]: row["chunk_id"] for row in place.rows()} == {chunk.stable_id: chunk.id for chunk in chunks}
    file = docs / "a.md"
    file.write_text(file.read_text().replace("# A\n", "# Renamed\n"))  # other texts to embed below it, equal ids
    synced(docs, place)
    check(docs, place)


def test_an_earlier_layout_is_migrated_with_its_vectors(
    docs: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.stores.sync_state.LAYOUT", 1)
    synced(docs, place)
    monkeypatch.undo()
    with pytest.raises(quire.StoreError, match="would delete 3 of its 3 documents"):
        synced(docs / "guides", place, delete=False)
    before = {row["text"]: [*row["vector"]] for row in place.rows()}
    report, texts = synced(docs, place, delete=False)
    assert (report.is_new_generation, report.rows, report.embedded, texts) == (True, 8, 0, [])
    assert {row["text"]: [*row["vector"]] for row in place.rows()} == before
    check(docs, place)
    assert synced(docs, place)[0].unchanged == 3


def test_the_log_has_few_entries_however_many_syncs_there_are(
    docs: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.stores.sync_state._MOST_ENTRIES", 5)
    for number in range(9):
        (docs / "c.md").write_text(f"Delta {number}.\n")
        synced(docs, place)
        assert len(place.rows("vectors__quire")) <= 5
    assert synced(docs, place)[0].unchanged == 3
    (docs / "c.md").unlink()
    assert synced(docs, place)[0].removed == 1
    assert synced(docs, place)[0].unchanged == 2


def test_a_later_entry_of_the_log_counts_more_also_after_entries_became_one(
    docs: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.stores.sync_state._MOST_ENTRIES", 4)
    monkeypatch.setattr("quire.stores.sync_state._PER_ENTRY", 2)
    a, c = docs / "a.md", docs / "c.md"
    for texts in [(None, "One.\n"), ("# A\n", "Two.\n"), ("# A2\n", None), ("# A3\n", None), (None, "One.\n")]:
        for file, text in zip((a, c), texts, strict=True):
            file.write_text(text or file.read_text())
        synced(docs, place)
        check(docs, place)


def test_other_content_types_stay(docs: Path, place: Place) -> None:
    synced(docs, place)
    other = docs.parent / "other"
    other.mkdir()
    (other / "a.md").write_text("# Other\n\nText.\n")
    synced(other, place, content_type="note")
    assert {row["content_type"] for row in place.rows()} == {"doc", "note"}
    synced(docs, place)
    assert len(place.rows()) == 9


def test_repeated_sections_are_embedded_once(docs: Path, place: Place) -> None:
    for name in "xyz":
        (docs / f"{name}.md").write_text("# Same\n\nSame text.\n\n# Same\n\nSame text.\n")
    _, texts = synced(docs, place)
    assert len([text for text in texts if text.endswith("Same text.")]) == 1
    check(docs, place)


def test_an_unreadable_document_keeps_its_rows(docs: Path, place: Place) -> None:
    synced(docs, place)
    (docs / "a.md").write_bytes(b"# A\n\n\xff\n")
    (docs / "c.md").write_text("Delta.\n")
    report, _ = synced(docs, place)
    assert [(Path(path).name, "UTF-8" in reason) for path, reason in report.failed] == [("a.md", True)]
    assert {row["source_path"] for row in place.rows()} == {"a.md", "guides/b.md", "c.md"}
    assert report.changed == 1
    report, _ = synced(docs, place, Model("2"))
    assert place.filtered("source_path", "a.md")  # the new generation would lose it


def test_texts_that_stores_refuse_are_stored(docs: Path, place: Place) -> None:
    (docs / "c.md").write_text('---\ntags: ["it\'s", \'a "b"\']\n---\n# It\'s "x"\n\nNull \0 and quote \' here.\n')
    (docs / "it's a % name.md").write_text("# Q\n\nText.\n")
    synced(docs, place)
    assert len(place.rows()) == 10
    (docs / "it's a % name.md").unlink()
    synced(docs, place)
    assert len(place.rows()) == 9


def test_data_of_others_is_not_touched(docs: Path, place: Place) -> None:
    with place.client() as client:
        match place.kind:
            case "lancedb":
                client.create_table("vectors", [{"id": "mine", "vector": [1.0, 2.0]}])
            case "pgvector":
                client.execute("CREATE TABLE vectors (id text)")
                client.execute("INSERT INTO vectors VALUES ('mine')")
            case "chroma":
                client.create_collection("vectors", embedding_function=None).add(ids=["mine"], embeddings=[[1.0]])
            case "qdrant":
                from qdrant_client import models

                client.create_collection("vectors", vectors_config=models.VectorParams(size=1, distance="Cosine"))
                client.upsert("vectors", [models.PointStruct(id=1, vector=[1.0], payload={"id": "mine"})])
    with pytest.raises(quire.StoreError, match="vectors exists and was not made by quire; choose another table"):
        synced(docs, place)
    with pytest.raises(quire.StoreError, match="vectors exists and was not made by quire"):
        synced(docs, place, rebuild=True)
    assert place.tables() == {"vectors"}
    synced(docs, Place(place.kind, place.place, "other"))
    with place.client() as client:
        found = {
            "lancedb": lambda: client.open_table("vectors").count_rows(),
            "pgvector": lambda: client.execute("SELECT count(*) FROM vectors").fetchone()[0],
            "chroma": lambda: client.get_collection("vectors", embedding_function=None).count(),
            "qdrant": lambda: client.count("vectors").count,
        }
        assert found[place.kind]() == 1
    Place(place.kind, place.place, "other").remove()


def test_a_rebuild_embeds_everything_again(docs: Path, place: Place) -> None:
    synced(docs, place)
    report, texts = synced(docs, place, dry_run=True, rebuild=True)
    assert (report.added, report.embedded, texts) == (3, 8, [])
    report, texts = synced(docs, place, rebuild=True)
    assert (report.added, report.unchanged, len(texts)) == (3, 0, 8)
    check(docs, place)
    assert synced(docs, place)[0].unchanged == 3


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("limit", [700, 1_000, 2_500, 4_000])
def test_lancedb_after_a_full_disk(docs: Path, tmp_path: Path, limit: int, is_new: bool) -> None:
    """LanceDB may leave tables that it cannot read; this is reported, and a rebuild mends it."""
    pytest.importorskip("lancedb", reason="needs quire-md[lancedb]: make test-integrations")
    place = Place("lancedb", str(tmp_path / "store"), "vectors")
    if not is_new:
        synced(docs, place)
    for number in range(20):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\nText {number}.\n")
    with limited_files(limit):
        problem = problem_of(docs, place)
    assert "cannot be written: File too large; " in problem or REBUILD in problem
    problem = problem_of(docs, place)
    assert not problem or REBUILD in problem
    if problem:
        synced(docs, place, rebuild=True)
    check(docs, place)


REBUILD = "; if a full disk has damaged it, quire sync --rebuild makes its tables anew"


def problem_of(docs: Path, place: Place) -> str:
    try:
        synced(docs, place)
    except quire.StoreError as error:
        return str(error)
    return ""


@contextmanager
def limited_files(size: int) -> Iterator[None]:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_command(docs: Path, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("wordllama")
    call = ["sync", str(docs), "--to", place.target, "-s", "tree", "--embedder", "wordllama"]
    assert main([*call, "--dry-run"]) == 0
    assert "3 documents added" in capsys.readouterr().out
    assert main([*call, "--json"]) == 0
    assert '"embedded":8' in capsys.readouterr().out
    assert main(call) == 0
    assert "3 unchanged" in capsys.readouterr().out
    assert len(place.rows()[0]["vector"]) == 256
    assert main([*call, "--rebuild", "--json"]) == 0
    assert '"embedded":8' in capsys.readouterr().out


def test_documents_that_are_all_empty_are_added_once(docs: Path, place: Place) -> None:
    synced(docs, place, Model("0"))
    for file in docs.rglob("*.md"):
        file.write_text("\n")
    report, _ = synced(docs, place)  # another version of the model: the old rows may not stay
    assert (report.added, report.is_new_generation, place.rows()) == (3, True, [])
    assert synced(docs, place)[0].unchanged == 3
    (docs / "a.md").write_text("# A\n\nAlpha.\n")
    assert synced(docs, place)[0].changed == 1
    check(docs, place)


def test_the_window_of_the_model_is_the_cap(docs: Path, place: Place) -> None:
    (docs / "c.md").write_text("\n\n".join(f"Paragraph {number} has some words in it." for number in range(40)))
    model = FunctionEmbedder(lambda texts: [vector(text) for text in texts], name="short", window=64)
    report = sync(docs, place.target, embedder=model)
    assert (report.cut, report.window) == (0, 64)
    assert len(place.rows()) > 6
    report = sync(docs, place.target, embedder=model, max_tokens=1024)
    assert (report.changed, report.cut) == (3, 1)
    report = sync(docs, place.target, embedder=model, target_tokens=500)  # a size that was chosen stays
    assert report.cut == 1


def test_a_cap_above_the_window_is_a_warning(docs: Path, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    (docs / "c.md").write_text("\n\n".join(f"Paragraph {number} has some words in it." for number in range(40)))
    with serving() as server:
        server.models = [(200, {}, {"data": [{"id": "m", "max_model_len": 64}]})]
        call = ["sync", str(docs), "--to", place.target, "--endpoint", server.url, "--model", "m"]
        assert main([*call, "--dry-run"]) == 0
        assert capsys.readouterr().err == ""
        assert main([*call, "--max-tokens", "1024", "--dry-run"]) == 0
        said = "1 chunk longer than the model reads (64 tokens): each would be embedded in passages; cut smaller"
        assert said in capsys.readouterr().err
        assert main([*call, "--max-tokens", "1024", "--json"]) == 0
        assert '"cut":1,' in capsys.readouterr().out
