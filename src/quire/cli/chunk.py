"""``quire chunk``: cut documents into chunks; JSON lines when piped, a readable view on a terminal, or files."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Raw

from quire.cli import output as out
from quire.cli.command_options import EMBEDDING, JSON, chosen_embedder, option, quire_command, refuse
from quire.cli.cut_options import CUT_OPTIONS, JOBS, READING, Engine, TreeCutter
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, InputDocument, Inputs, Summary, results
from quire.embed.embed_settings import EmbedSettings
from quire.errors import InputError
from quire.model.breadcrumbs import reader_line
from quire.model.chunk_record import Chunks
from quire.model.document import UNTITLED, doc_name
from quire.model.offsets import LINE_END
from quire.output import chunk_json, json_files, jsonl, parquet, record_forms
from quire.output.json_files import FileWriter

Format = Literal["files", "jsonl", "parquet", "compact", "flat", "nodes"]
_ENDINGS: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_RECORDS: dict[str, record_forms.Form] = {"compact": "compact", "flat": "flat", "nodes": "node"}
_SLASHES = ("/", os.sep)
_SHOWN_LINES = 6
_SHOWN_WIDTH = 112


class Encoded(NamedTuple):
    """The encoded chunks of a document."""

    name: str  # its name in messages
    id_path: str  # its path in ids; its name for standard input
    summary: Summary
    content: Any


Encode = Callable[[Chunks], Any]
Write = Callable[[Iterator[Encoded]], None]


@quire_command("quire chunk docs -o chunks.jsonl", "quire chunk docs/search.md -s flow --max-tokens 256")
def command(
    *,
    inputs: Inputs = READING,
    jobs: int | None = JOBS,
    options: Mapping[str, Any] = CUT_OPTIONS,
    output: str | None = option("Write to a folder or a file.", "-o", "DIR|FILE"),
    form: Format | None = option("The format. [default: by the output's name]", "--format"),
    engine: Engine | None = option("Write Parquet files in parts: on all cores, or with Ray."),
    vectors: bool = option("Embed the chunks, with --engine."),
    embedding: Mapping[str, Any] = EMBEDDING,
    as_json: bool = JSON,
) -> int:
    """PATH is a file, a folder (its Markdown and .txt files, except those that .gitignore and .quireignore exclude) or
    - for standard input; without PATH, quire reads the trees of quire.toml. Chunks go to standard output, one JSON
    object per line when piped and a readable view on a terminal, or to the output: a .jsonl (.ndjson) or .parquet file,
    or a folder with one file per chunk. A file, or each document in a folder, is replaced completely or not at all;
    files of a document that no longer exists stay until you remove them. The formats compact, flat and nodes (with -s
    tree) are JSON lines with other records; flat also writes .parquet.

    With --engine, the output is a folder or URL of Parquet files, each with the chunks of a few megabytes of documents,
    and PATH may also be a URL (s3://bucket/docs) or shards: .parquet or .jsonl files with the columns path and text.
    All engines write the same files. A run that is repeated continues, and does again only what changed. The engine ray
    uses the cluster that RAY_ADDRESS names, or starts one on this machine.
    """
    output = None if output == "-" else output
    cut = TreeCutter.of(inputs, options)
    vectors = vectors or bool(embedding)
    is_tree = all(chosen["strategy"] == "tree" for chosen in cut.options.values())
    _check(inputs, output or "", is_tree=is_tree, engine=engine, form=form, vectors=vectors, as_json=as_json)
    if engine is not None and output is not None:
        embedder = chosen_embedder(embedding, inputs.settings.embed) or EmbedSettings() if vectors else None
        return _write_dataset(inputs, cut, output, engine=engine, embedder=embedder, jobs=jobs)
    form = form or (_format_of(output) if output is not None else None)
    summary = Summary()
    documents = inputs.documents(summary)
    cut = cut.with_documents(documents)
    if output is not None and form != "files":
        _refuse_input(output, documents, summary)
    encode, write = _encoding(output, form, summary, as_json=as_json)
    work = partial(_encode, cut, encode)
    with closing(results(documents, work, summary, jobs=jobs, prepare=cut.prepare)) as encoded:
        unclashing = _without_clashes(encoded, summary, has_whole_paths=form == "compact" or is_tree)
        write(encoded if form == "files" else unclashing)  # the writer of files refuses those that clash
    summary.show()
    return summary.exit_code(inputs.paths)


def _write_dataset(
    inputs: Inputs, cut: TreeCutter, output: str, *, engine: str, embedder: Any, jobs: int | None
) -> int:
    """Write the chunks of all documents as Parquet files; return the exit code."""
    from quire.embed.embedder import resolve  # noqa: PLC0415  most runs need neither
    from quire.run.dataset import write_parts  # noqa: PLC0415

    if embedder is not None:
        resolve(embedder)  # in another process, a missing package would look like the fault of a document
    summary = Summary()
    parts = cut.parts(inputs, summary)
    finished = 0
    written = write_parts(parts, output, embedder=embedder, engine=engine, workers=jobs)
    progress = out.Progress()
    with closing(written):
        for number, done in enumerate(written if parts else ()):
            part = parts[number]
            progress.step(number, len(parts), part.name(part.paths[0]) if part.paths else part.source)
            for path, reason in done.problems:
                summary.skip(part.name(path), reason)
            if done.value:
                value = done.value
                summary.counts.update(documents=value.documents, chunks=value.rows, tokens=value.tokens)
                finished += value.is_old
    summary.show()
    if finished:
        out.note(f"{out.count_of(finished, 'part')} of {len(parts):,} had been written before")
    return summary.exit_code(inputs.paths)


def _encode(cut: TreeCutter, encode: Encode, document: InputDocument) -> tuple[Summary, Encoded]:
    chunks = cut(document)
    summary = Summary.of(document, chunks)
    return summary, Encoded(document.name, document.path or document.name, summary, encode(chunks))


def _check(
    inputs: Inputs, name: str, *, is_tree: bool, engine: str | None, form: str | None, vectors: bool, as_json: bool
) -> None:
    """Refuse options that contradict each other, what only an engine can do, and what none can."""
    source = next((path for path in (*inputs.paths, name) if "://" in path), "") or (vectors and "--vectors")
    has_folder_name = _format_of(name) == "files"
    is_other = os.path.exists(name) and not os.path.isdir(name)  # noqa: PTH110, PTH112  a file, a device, a pipe
    is_unclear = form is None and has_folder_name and not os.path.isdir(name)  # noqa: PTH112  Path's may fail
    is_dataset = name and has_folder_name and not is_other and not as_json and form in (None, "parquet")
    is_one_file = form not in (None, "files") and not engine and name.endswith(_SLASHES)
    refuse(source and not engine, f"{source} needs an engine; add --engine local or --engine ray")
    folder = "a folder of Parquet files; name one with -o, without --json and --format"
    refuse(engine and not is_dataset, f"--engine writes {folder}")
    refuse(engine and STANDARD_INPUT in inputs.paths, "--engine cannot read standard input; name files or folders")
    refuse(not name and form in ("files", "parquet"), f"--format {form} needs an output; say where with -o")
    refuse(form == "nodes" and not is_tree, "--format nodes is about the heading tree; add -s tree")
    refuse(name and as_json, "--json prints to standard output; leave it out, or leave out -o")
    refuse(is_one_file, f"-o {name} is a folder, and --format {form} one file; name a file")
    is_unclear = is_unclear and (is_other or name.lower().endswith((".json", ".csv")))
    refuse(is_unclear, f"-o {name} is no folder, .jsonl or .parquet file; add --format, or name one of those")


def _format_of(output: str) -> Format:
    return "files" if output.endswith(_SLASHES) else _ENDINGS.get(Path(output).suffix.lower(), "files")


def _encoding(output: str | None, form: Format | None, summary: Summary, *, as_json: bool) -> tuple[Encode, Write]:
    """How chunks are encoded, in the process that cuts them, and written."""
    records = partial(_records, form=_RECORDS.get(form or "", "chunk"))
    if as_json:
        return records, partial(_print, out.write_json_array)
    if output is None and form is None and out.is_terminal(sys.stdout):
        return list, _show
    if output is None:
        return records, partial(_print, out.write_json_lines)
    if form == "files":
        return json_files.encoded, partial(_write_files, Path(output), summary)
    is_flat = form == "flat" and _format_of(output) == "parquet"
    if form == "parquet" or is_flat:
        parquet.pyarrow()  # in another process it would look like the fault of a document
        write = partial(parquet.write_encoded, is_flat=is_flat)
        return partial(parquet.encoded, is_flat=is_flat), partial(_write_file, write, Path(output))
    return records, partial(_write_file, jsonl.write_encoded, Path(output))


def _records(chunks: Chunks, form: record_forms.Form) -> list[bytes]:
    return [chunk_json.to_json(record) for record in record_forms.records(chunks, form)]


def _refuse_input(output: str, documents: Iterable[InputDocument], summary: Summary) -> None:
    files = [str(document.found.file) if document.found else 0 for document in documents]  # 0 is standard input
    files += [skipped.path for skipped in summary.skipped if skipped.is_error]
    for file in files:
        with suppress(OSError, ValueError):  # reading it gives the reason
            if os.path.isfile(output) and os.path.samestat(os.stat(output), os.stat(file)):  # noqa: PTH113, PTH116
                raise InputError(output, "is one of the documents, and would be overwritten", "choose another output")


def _without_clashes(documents: Iterable[Encoded], summary: Summary, *, has_whole_paths: bool) -> Iterator[Encoded]:
    """The documents without those whose ids clash with an earlier one; most ids have a path without its ending."""
    first: dict[str, str] = {}
    for document in documents:
        path = None if document.id_path == STANDARD_INPUT_NAME else document.id_path
        other = first.setdefault((path or UNTITLED) if has_whole_paths else doc_name(path), document.id_path)
        if other == document.id_path:
            yield document
        else:
            which = "the file" if STANDARD_INPUT_NAME in (other, document.name) else "one"
            summary.skip(document.name, f"its ids would clash with those of {other}; rename {which}", document.summary)


def _write_files(output: Path, summary: Summary, documents: Iterator[Encoded]) -> None:
    """Write one file per chunk; the summary lists documents that the writer refuses."""
    added: dict[str, Encoded] = {}
    for document in documents:  # without documents no folder is made
        with FileWriter(output, on_wait=out.note) as writer:
            for encoded in chain([document], documents):
                added[encoded.id_path] = encoded._replace(content=None)
                writer.add_encoded(encoded.content, encoded.id_path)
        for refused in writer.written.refused:
            summary.skip(added[refused.path].name, refused.reason, added[refused.path].summary)


def _write_file(write: Callable[[Path, Iterable[Any]], object], output: Path, documents: Iterator[Encoded]) -> None:
    for document in documents:  # without documents the file stays as it was
        write(output, (encoded.content for encoded in chain([document], documents)))


def _print(write: Callable[[Iterable[Any]], None], documents: Iterator[Encoded]) -> None:
    write(Raw(record) for document in documents for record in document.content)


def _show(documents: Iterator[Encoded]) -> None:
    """Print chunks for people: id, size and lines, breadcrumb, the first lines of the text."""
    paint = out.Paint(sys.stdout)
    columns = min(out.terminal_size(sys.stdout, "columns", 80), _SHOWN_WIDTH)
    for chunk in (chunk for document in documents for chunk in document.content):
        position = chunk.source_position
        lines = paint.faint(out.lines_of(position.start_line, position.end_line))
        size = paint.number(out.count_of(chunk.token_stats.tokens, "token"))
        out.echo(f"{paint.path(chunk.id)}  {size}  {lines}")
        out.echo(paint.title(reader_line(chunk.file_title, chunk.header_path)))
        texts = LINE_END.split(chunk.original_text)
        for text in texts[:_SHOWN_LINES]:
            out.echo(f"  {out.clip(out.visible(text[: 4 * columns]), columns - 2)}")
        if len(texts) > _SHOWN_LINES:
            out.echo(paint.faint(f"  … {out.count_of(len(texts) - _SHOWN_LINES, 'more line')}"))
        out.echo()
