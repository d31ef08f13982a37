"""``quire context``: find the documentation that concerns some files, or the changes in a diff."""

from pathlib import Path

from quire.cli.command_options import JSON, argument, option, quire_command, refuse
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.hit_output import LIMIT, LIST, MAX_TOKENS, Printer, hit_record
from quire.cli.input_documents import read_standard_input, read_text
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions, advising
from quire.cli.output import message, note, visible, write_json
from quire.errors import InputError
from quire.workspace.context import FileContext, changed_files
from quire.workspace.settings import load

_LIMIT = 5  # how many results there are, unless said


@quire_command("quire context README.md", "quire context README.md --list --explain")
def command(
    *,
    files: tuple[str, ...] = argument("[FILE...]"),
    is_diff: bool = option("Read a git diff from standard input: git diff | quire context --diff", "--diff"),
    limit: int | None = LIMIT,
    max_tokens: int | None = MAX_TOKENS,
    as_list: bool = LIST,
    explain: bool = option("Show the words of the query with their weights."),
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """FILE is a source or Markdown file. quire searches for the distinctive words in its path, definitions and text.
    Rules under [[context]] in quire.toml add words and sections for files that match a pattern, or limit them to some
    trees. The exit code is 1 if nothing is found.
    """
    refuse(is_diff == bool(files), "name files, or give a diff on standard input with --diff")
    if is_diff:
        texts = changed_files(read_standard_input("a git diff").decode("utf-8", "replace"))
        if not texts:
            raise InputError("-", "standard input has no git diff", "try: git diff | quire context --diff")
    else:
        texts = {file: read_text(Path(file), file)[0] for file in files}
    settings = load(Path.cwd())
    wanted = FileContext.of(texts, settings)
    budget = settings.search.max_tokens if max_tokens is None else max_tokens
    with index.open(trees=wanted.trees) as workspace:
        show = lambda error: message(str(advising(error, workspace)))  # noqa: E731
        hits = wanted.search(workspace, limit=limit or _LIMIT, max_tokens=budget, on_problem=show)
        pairs = [(hit, workspace.file(hit.tree, hit.path)) for hit in hits]
    if as_json:
        words = [word._asdict() for word in wanted.words]
        write_json({"words": words, "results": [hit_record(*pair) for pair in pairs]})
    else:
        for word in wanted.words if explain else ():
            note(visible(f"{word.weight:.1f}  {word.text}  {', '.join(word.origins)}"))
        Printer(form="list" if as_list else "text").show(pairs)
        if not hits:
            note("nothing found")
    return 0 if hits else NOTHING_FOUND
