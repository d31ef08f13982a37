"""``quire search``: find the sections that answer a query, or that are like a section or file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from quire.cli.command_options import JSON, PATHS, argument, option, quire_command, refuse
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.hit_output import LIMIT, LIST, MAX_TOKENS, Form, Printer, show_phases, with_node_ids
from quire.cli.open_workspace import INDEX_OPTIONS, MODE, IndexOptions, get_section
from quire.cli.output import count_of, message, note, visible
from quire.search import query_syntax
from quire.search.hit import Results
from quire.search.match_ranges import match_ranges
from quire.search.search_settings import Mode
from quire.workspace.selected_trees import file_of, locate, refuse_missing
from quire.workspace.workspace import Workspace


@quire_command('quire search "broken links" docs', "quire search --like docs/index.md docs --list")
def command(
    *,
    query: str = argument("QUERY", required=False, default="", callback=None),
    paths: tuple[str, ...] = PATHS,
    queries: tuple[str, ...] = option("One of several queries. Repeatable.", "-e", "--query", "QUERY", callback=None),
    like: str | None = option(
        "Find sections of other documents with the words of this section or file, instead of a query.", "ID|FILE"
    ),
    limit: int | None = LIMIT,
    max_tokens: int | None = MAX_TOKENS,
    trees: tuple[str, ...] = option("Search only this tree. Repeatable.", "--tree", "NAME", callback=None),
    path: tuple[str, ...] = option("Search only these paths. Repeatable.", "GLOB"),
    where: tuple[str, ...] = option(
        "Search only documents with this in their front matter: status=draft, 'date>2025'. Repeatable.", "KEY=VALUE"
    ),
    no_merge: bool = option("Do not merge sections into their parents; results may overlap."),
    as_list: bool = LIST,
    matches: bool = option("Print only the lines with matches: path, line number, line."),
    full: bool = option("Print whole sections, without a limit of tokens."),
    every: bool = option("Print results below the relevance cut-off, too.", "--all"),
    mode: Mode = MODE,
    rerank: str | None = option(
        "Rank the best 50 results again with the model behind this address, as [search] rerank does.", "URL"
    ),
    explain: bool = option("Show how each result was found and ranked."),
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """PATH is a folder or a file; by default quire searches all trees of quire.toml, else the current folder. It reads
    files that have changed first. GLOB is a pattern such as 'guides/**', matched against paths in a tree or as printed.
    Each result shows its own text first, then what is below it, as far as --max-tokens allows. Results that score much
    less than the best are left out and counted. The exit code is 1 if nothing is found.

    Put a query of several words in quotes, and -- before a query that begins with a dash.
    """
    refuse(queries and like, "--like replaces a query; leave out -e")
    if queries or like:  # all arguments are paths
        paths = (query, *paths) if query else paths
        query = queries[0] if len(queries) == 1 else " OR ".join(f"({alternative})" for alternative in queries)
    else:
        refuse(not query.strip(), "Missing argument 'QUERY'.")
    refuse_missing(paths, "check the path, or put a query of several words in quotes")
    refuse(as_list + matches + full > 1, "--list, --matches and --full exclude each other; choose one")
    refuse(like and explain, "--explain is about a query; leave it out with --like")
    if not like:
        query_syntax.parse(query)  # an error before the index is brought up to date
    if max_tokens is None and (as_list or matches or full):
        max_tokens = 0
    with index.open(paths, trees, mode) as workspace:
        find: Callable[..., Results] = partial(workspace.search, query, path=path, where=where, limit=limit)
        if like is not None:
            from quire.cli.input_documents import read_text  # noqa: PLC0415  few searches need it

            file = file_of(like)
            is_text = file and not locate(file, workspace.folders)  # of a file that is in no tree
            named = {"text": read_text(Path(file), file)[0]} if is_text else {"like": get_section(workspace, like).id}
            find = partial(find, **named)
        else:
            find = partial(find, merge=not no_merge, every=every, explain=explain, mode=mode, rerank=rerank)
        if path and not workspace.documents(path):
            message(f"--path {' '.join(path)}: no document matches")
        results = find(max_tokens=max_tokens)
        form: Form = "list" if as_list else "matches" if matches else "text"
        _show(workspace, results, form=form, full=full, explain=explain, as_json=as_json)
        _show_left_out(workspace, results, max_tokens)
    return 0 if results else NOTHING_FOUND


def _show(workspace: Workspace, results: Results, *, form: Form, full: bool, explain: bool, as_json: bool) -> None:
    hits = [(hit, workspace.file(hit.tree, hit.path)) for hit in results]
    ranges = partial(match_ranges, query=results.query, corrections=results.corrections)
    if explain:
        hits = [(with_node_ids(hit, workspace.index.outline(f"{hit.tree}:{hit.path}")), file) for hit, file in hits]
    printer = Printer(full=full, form=form, ranges=ranges, best=not explain)
    printer.show(hits, results.phases if explain else None, as_json=as_json)
    if explain and not as_json:
        show_phases(results.phases, workspace.settings.search.tie)


def _show_left_out(workspace: Workspace, results: Results, max_tokens: int | None) -> None:
    """Tell the user why there are no results, which were left out, and which words were searched instead of others."""
    if results.over_budget:
        budget = count_of(workspace.settings.search.max_tokens if max_tokens is None else max_tokens, "token")
        beyond = f"{results.over_budget} more beyond" if results else "nothing fits in"
        note(f"{beyond} {budget}; --max-tokens 0 shows {'them' if results else 'it'}")
    elif not results:
        note("nothing found")
    if results.below_cutoff:
        note(f"{results.below_cutoff} more below the cut-off; --all shows them")
    for text in results.notes():
        note(visible(text))
