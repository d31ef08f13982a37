"""``quire sync``: sync documents to a vector store."""

from dataclasses import asdict

from quire.cli.command_options import EMBEDDING, JSON, Chosen, chosen_embedder, option, quire_command, refuse
from quire.cli.cut_options import CUT_OPTIONS, READING, Engine, TreeCutter
from quire.cli.exit_codes import ERROR
from quire.cli.input_documents import STANDARD_INPUT, Inputs, Summary
from quire.cli.output import Choices, Progress, can_ask, confirm, count_of, echo, message, visible, write_json
from quire.stores import Documents, SyncReport, sync
from quire.stores.store import parse_target
from quire.stores.sync_documents import root_of


@quire_command(
    "quire sync docs --to lancedb:vectors --embedder wordllama --dry-run",
    "quire sync docs --to qdrant:http://localhost:6333",
)
def command(
    *,
    inputs: Inputs = READING,
    store: str = option("The store; see above.", "--to", "STORE", required=True),
    embedding: Chosen = EMBEDDING,
    dry_run: bool = option("Say what would be done, and what it would cost, and do nothing."),
    rebuild: bool = option("Remove quire's tables first, and embed everything again."),
    delete: bool = option("Allow deleting more than a fifth of the documents."),
    engine: Engine | None = option("Cut and embed on all cores, or with Ray."),
    jobs: int | None = option("Number of processes, with --engine.", "-j", least=1),
    options: Chosen = CUT_OPTIONS,
    as_json: bool = JSON,
) -> int:
    """STORE is lancedb:DIR, pgvector:URL, chroma:DIR, chroma:URL, qdrant:DIR, qdrant:URL or a store of another package,
    with #NAME for another table than quire. Only what changed is embedded and written; documents that are no longer in
    PATH are deleted from the store. If these are more than a fifth, or the store has those of another folder, sync asks
    first, or needs --delete. Without PATH, the trees of quire.toml are synced. PATH may also be a URL
    (s3://bucket/docs) or shards: .parquet or .jsonl files with the columns path and text. The key of an endpoint is
    read from QUIRE_EMBED_KEY; the key of a Qdrant server from QDRANT_API_KEY. The exit code is 2 if a document could
    not be read; its rows stay.
    """
    refuse(STANDARD_INPUT in inputs.paths, "standard input has no path to sync; name files or folders")
    parse_target(store)
    summary = Summary()
    parts = TreeCutter.of(inputs, options).parts(inputs, summary)
    summary.show(only_errors=True)
    if summary.has_errors:
        message("nothing was synced, because documents might be deleted that are only unreadable")
        return ERROR
    if not parts:
        return summary.exit_code(inputs.paths)
    progress = Progress()
    report = sync(
        Documents(parts, root_of(inputs.paths)),
        store,
        embedder=chosen_embedder(embedding, inputs.settings.embed),
        dry_run=dry_run,
        rebuild=rebuild,
        delete=delete or (can_ask() and confirm),
        engine=engine,
        workers=jobs,
        on_progress=lambda done, total, rows: progress.step(done, total, count_of(rows, "chunk")),
    )
    for path, reason in report.failed:
        summary.skip(path, reason)
    summary.show(only_errors=True)
    if as_json:
        fields = asdict(report)
        is_new = fields.pop("is_new_generation")
        failed = [{"path": path, "reason": reason} for path, reason in report.failed]
        write_json({**fields, "newGeneration": is_new, "failed": failed})
    elif not Choices.is_quiet:
        _show(report, dry_run=dry_run)
    return ERROR if report.failed else 0


def _show(report: SyncReport, *, dry_run: bool) -> None:
    changes = f"{report.changed:,} changed, {report.removed:,} removed, {report.unchanged:,} unchanged"
    would = "would be " if dry_run else ""
    echo(f"{count_of(report.added, 'document')} added, {changes}")
    texts = f"{count_of(report.embedded, 'text')} ({count_of(report.tokens, 'token')})"
    echo(f"{texts} {would}embedded, {report.rows:,} rows {would}checked")
    if report.cut:
        longer = f"{count_of(report.cut, 'chunk')} longer than the model reads ({report.window:,} tokens)"
        message(f"{longer}: each {would}embedded in passages; cut smaller, with --max-tokens {report.window}")
    if report.is_new_generation:
        done = "would replace" if dry_run else "replaced" if not report.failed else "does not replace"
        echo(visible(f"a new generation, {report.generation}, {done} the old one"))
