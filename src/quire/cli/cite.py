"""``quire cite``: check quotations against the documents."""

from pathlib import Path

from quire.cli.command_options import JSON, PATHS, argument, quire_command
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, read_text
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions
from quire.cli.output import clip, count_of, echo, note, visible, write_json
from quire.search.cite import check_quotations

_SHOWN = 60  # characters of a quotation that is not in the documents


@quire_command("quire cite README.md docs", "quire cite README.md docs --json")
def command(
    *,
    file: str = argument("FILE"),
    paths: tuple[str, ...] = PATHS,
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """FILE is a Markdown text, or - for standard input, with quotations and their sources: "…"
    [docs:guides/auth.md#oauth] and the like with links to sections, footnotes and block quotations; or a JSON list of
    objects with quote and source. White space, quotation marks, Markdown marks and … for words left out make no
    difference. Quotations of five words or more without a source are looked for in all documents. The exit code is 1
    unless all are found.
    """
    name = STANDARD_INPUT_NAME if file == STANDARD_INPUT else file
    text, _ = read_text(None if file == STANDARD_INPUT else Path(file), name)
    with index.open(paths) as workspace:
        citations = check_quotations(text, workspace.index, lambda name: workspace.get(name).id, workspace.documents())
        if as_json:
            write_json(citations)
        for citation in () if as_json else citations:
            found = ((workspace.file(place.tree, place.path), *place.lines) for place in citation.places)
            places = [f"{path}:{first}-{last}" for path, first, last in found]
            if citation.status == "was there":
                places = [f"removed in {citation.commit[:12]}" if citation.commit else "removed, not committed"]
            shown = citation.difference or clip(" ".join(citation.quote.split()), _SHOWN)
            result = " ".join([citation.status, ", ".join(places)]).rstrip()
            echo(visible(f"{name}:{citation.line}: {result}: {shown}"))
    number = sum(citation.status == "found" for citation in citations)
    note(f"{count_of(len(citations), 'quotation')}, {number:,} found")
    return 0 if number == len(citations) else NOTHING_FOUND
