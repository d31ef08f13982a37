"""``quire search``: find the sections that answer a query, in an index that is brought up to date first."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from shlex import quote

import click

from quire import query as query_syntax
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.hit_output import (
    Form,
    Printer,
    hit_record,
    show_phases,
    tokens_of,
    tokens_with_breadcrumb,
    with_node_ids,
)
from quire.cli.open_index import OpenIndex, open_index
from quire.cli.output import Progress, count_of, message, note, visible, write_json_array
from quire.cli.shared_options import index_option, json_option, mode_option, no_update_option, not_empty, paths_argument
from quire.cli.tree_paths import exists, near_path, refuse_missing
from quire.errors import QueryError, near
from quire.model import Span
from quire.search.fusion import Mode
from quire.search.hit import Hit, Results
from quire.search.match_ranges import match_ranges
from quire.search.ranking_settings import MAX_TOKENS
from quire.search.term_limit import MAX_TERMS
from quire.settings import SEARCH_KEYS

_PATH = re.compile(r"[/\\]|\.\w+\Z")
"""A slash or a file extension, which words of a query rarely have."""
_LIMIT = click.IntRange(1, int(SEARCH_KEYS["search.limit"].most))
_FRAME = 96
"""The most bytes that are printed around a result besides its names."""
_SPARE = 12
"""Tokens that joining the texts of results may save."""
_TRIES = 8
"""After so many searches the budget is reduced in larger steps."""


class _SearchCommand(click.Command):
    """Explains an unknown option, which may be a query that begins with a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = next((each for each in given if each.startswith(error.option_name)), error.option_name)
            known = [name for param in self.params for name in param.opts]
            similar = near(name, known, cutoff=0.7) if name.startswith("--") else ""
            hint = f"put -- before a query that begins with a dash: quire search -- {quote(name)}"
            raise click.UsageError(f"no such option: {name}{similar}; {hint}", ctx) from error


@click.command(cls=_SearchCommand)
@click.argument("query", metavar="QUERY", required=False, default="")
@paths_argument
@click.option(
    "-q", "queries", multiple=True, metavar="QUERY", help="One of several queries; any may match. Repeatable."
)
@click.option("-n", "--limit", type=_LIMIT, metavar="N", help="The most results. [default: 10]")
@click.option(
    "--max-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="The most tokens of all results; 0: no limit. [default: 8000]",
)
@click.option("--tree", "trees", multiple=True, metavar="NAME", help="Search only this tree. Repeatable.")
@click.option("--path", multiple=True, metavar="GLOB", callback=not_empty, help="Search only these paths. Repeatable.")
@click.option("--no-merge", is_flag=True, help="Do not merge sections into their parents; results may overlap.")
@click.option("--list", "as_list", is_flag=True, help="One line per result: path, breadcrumb, tokens, score.")
@click.option("--matches", is_flag=True, help="Print only the lines with matches: path, line number, line.")
@click.option("--full", is_flag=True, help="Print whole sections, without a limit of tokens.")
@click.option("--all", "every", is_flag=True, help="Print results below the relevance cut-off, too.")
@mode_option
@click.option("--explain", is_flag=True, help="Show how each result was found and ranked.")
@json_option
@index_option
@no_update_option
def command(
    *,
    query: str,
    paths: tuple[str, ...],
    queries: tuple[str, ...],
    limit: int | None,
    max_tokens: int | None,
    trees: tuple[str, ...],
    path: tuple[str, ...],
    no_merge: bool,
    as_list: bool,
    matches: bool,
    full: bool,
    every: bool,
    mode: Mode,
    explain: bool,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Find the sections that answer a query.

    PATH is a folder or a file; by default quire searches all trees of quire.toml, else those of the index, else the
    current folder. It reads files that have changed first. GLOB is a pattern as 'guides/**', for paths in a tree or as
    printed. Each result shows its own text first, then what is below it, as far as --max-tokens allows. Results that
    score much less than the best are left out and counted. The exit code is 1 if nothing is found.

    Put a query of several words in quotes. Without quotes, words belong to the query unless they name a file or
    folder, or nearly do. Put -- before a query that begins with a dash.
    """
    query, paths = _joined(query, queries, paths)
    if as_list + matches + full > 1:
        raise click.UsageError("--list, --matches and --full exclude each other; choose one")
    if not _is_valid(query):
        return ERROR
    with open_index(paths, index_folder=index_folder, trees=trees, update=not no_update) as opened:
        if not opened.selection:
            if as_json:
                write_json_array(())
            return NOTHING_FOUND
        find = partial(
            opened.index.search,
            query,
            limit=limit or opened.settings.limit,
            trees=list(dict.fromkeys(each.tree for each in opened.selection)),
            path=opened.path_filters(path),
            merge=not no_merge,
            every=every,
            explain=explain,
            mode=mode,
        )
        if mode != "words" and not no_update:
            with Progress() as progress:
                opened.index.embed(on_progress=progress.step)
        form: Form = "list" if as_list else "matches" if matches else "text"
        given = 0 if max_tokens is None and (full or matches) else max_tokens
        search = _Search(opened, find, given, None if as_json else form, full=full, explain=explain)
        results = search.results()
        search.show(results)
        search.show_left_out(results)
    _show_notes(results)
    return 0 if results else NOTHING_FOUND


def _joined(query: str, queries: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The query and the paths. With ``-q``, all arguments are paths, and any of the queries may match."""
    if not queries:
        if not query:
            raise click.UsageError("Missing argument 'QUERY'.")
        return _with_words(query, paths)
    paths = (query, *paths) if query else paths
    return queries[0] if len(queries) == 1 else " OR ".join(f"({each})" for each in queries), paths


def _with_words(query: str, paths: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The query and the paths: words after an unquoted query that name no file belong to the query.

    A word that looks like a path, or nearly names a file, is one, so that quire does not search for a mistyped path.
    """
    if query.split() != [query]:  # it was in quotes
        return query, paths
    words = list(takewhile(lambda each: not exists(each) and not _PATH.search(each) and not near_path(each), paths))
    paths = paths[len(words) :]
    refuse_missing(paths, "check the path, or put the query in quotes")
    if words:
        query = " ".join((query, *words))
        note(f"searched {visible(quote(query))}; put a query of several words in quotes")
    return query, paths


def _is_valid(query: str) -> bool:
    """Whether the query can be parsed; if not, tell the user where the mistake is."""
    if not query.strip():
        message("there is nothing to look for; give a query with a word in it")
        return False
    try:
        query_syntax.parse(query)
    except QueryError as error:
        problem, *pointer = str(error).split("\n")  # the query with a caret below it
        message(problem)
        for line in pointer:
            note(visible(line))
        return False
    return True


class _Search:
    """The results that fit a budget, and printing them; without a form as JSON."""

    def __init__(
        self,
        opened: OpenIndex,
        find: partial[Results],
        given: int | None,
        form: Form | None,
        *,
        full: bool,
        explain: bool,
    ) -> None:
        self._opened = opened
        self._find = find
        self._is_given = given is not None or opened.settings.max_tokens != MAX_TOKENS
        self._budget = opened.settings.max_tokens if given is None else given
        self._explain = explain
        self._corrections: Mapping[str, Sequence[str]] = {}
        self._printer = None
        if form is not None:
            self._printer = Printer(sys.stdout, full=full, form=form, explain=explain, ranges=self._ranges)

    def _ranges(self, hit: Hit) -> Sequence[Span]:
        return match_ranges(hit, self._find.args[0], self._corrections)

    def _files(self, results: Results) -> list[str]:
        return [self._opened.file(hit.tree, hit.path) for hit in results]

    def _tokens(self, results: Results) -> int:
        """The tokens of results as a budget counts them: with everything that is printed around their texts."""
        if self._printer is None:
            return sum(map(tokens_with_breadcrumb, results))
        return self._printer.tokens(results, self._files(results))

    def results(self) -> Results:
        """The results whose output fits the budget.

        A search counts what is printed around each result. Some tokens merge where texts meet, so that a slightly
        larger budget may fit; control characters take more tokens in print, so that a smaller one may be needed.
        """
        budget = self._budget
        if not budget or self._printer is None:
            return self._find(max_tokens=budget if self._is_given else None)
        if self._printer.form != "text":
            results = self._find(max_tokens=0)
            numbers = range(1, len(results) + 1)
            if self._is_given:
                fitting = bisect_right(numbers, budget, key=lambda most: self._tokens(Results(results[:most])))
                results.over_budget += len(results) - fitting
                del results[fitting:]
            return results
        if not self._is_given:  # no token has less than one byte; counting exactly loads a tokenizer
            return self._find(max_tokens=None, around=self._bytes_around)
        find = partial(self._find, around=lambda hit: self._tokens(Results([hit])) - tokens_of(hit.breadcrumb_line))
        most, tries = budget + _SPARE, 0
        while (printed := self._tokens(results := find(max_tokens=max(most, 1)))) > budget and most > 0:
            used, tries = results.phases["fit"]["tokens"], tries + 1
            most = used - 1 if tries < _TRIES else min(used - 1, used * budget // printed)
        if printed > budget:
            results.clear()
        return results

    def _bytes_around(self, hit: Hit) -> int:
        file = self._opened.file(hit.tree, hit.path)
        return 2 * len(file.encode(errors="replace")) + len(hit.id.encode()) + _FRAME

    def show(self, results: Results) -> None:
        """Print the results."""
        self._corrections = results.corrections
        hits, files = list(results), self._files(results)
        if self._explain:
            outlines = [self._opened.index.outline(f"{hit.tree}:{hit.path}") for hit in hits]
            ids = [{node.position: node.id for node in nodes} for nodes in outlines]
            hits = list(map(with_node_ids, hits, ids))
        if self._printer is None:
            phases = results.phases if self._explain else None
            write_json_array(
                hit_record(hit, file, phases, self._ranges(hit)) for hit, file in zip(hits, files, strict=True)
            )
        else:
            self._printer.show(hits, files)
            if self._explain:
                show_phases(results.phases, self._opened.settings.search.tie)
        sys.stdout.flush()

    def show_left_out(self, results: Results) -> None:
        """Tell the user why there are no results, and which were left out."""
        fit, budget = results.phases.get("fit", {}), count_of(self._budget, "token")
        if not results and query_syntax.parse(results.query) is None:
            note("nothing found: there is nothing to look for in the query; give it a word")
        elif results and fit["left out"]:
            best = self._find(limit=1, max_tokens=0)
            number, verb = count_of(fit["left out"], "better result"), "does" if fit["left out"] == 1 else "do"
            size = f"; the best has {count_of(self._tokens(best), 'token')} in all"
            note(f"left out {number} that {verb} not fit in {budget}{size if best[0].id != results[0].id else ''}")
        elif not results and self._budget and fit and (best := self._find(limit=1, max_tokens=0)):
            note(f"nothing fits in {budget}; the best result has {count_of(self._tokens(best), 'token')} in all")
        elif not results:
            alike = ", ".join(results.words_alike)
            note(visible(f"nothing found; words that begin alike: {alike}" if alike else "nothing found"))
        elif results.over_budget:
            note(f"{results.over_budget} more beyond {budget}; --max-tokens 0 shows them")
        if results.below_cutoff:
            note(f"{results.below_cutoff} more below the cut-off; --all shows them")


def _show_notes(results: Results) -> None:
    if results.ignored_terms:
        note(f"only {MAX_TERMS} terms of the query were searched; {results.ignored_terms:,} were ignored")
    for word, instead in results.corrections.items():
        words = " or ".join(f'"{each}"' for each in instead)
        note(visible(f'no match for "{word}"; showing results for {words}'))
    for word in results.unknown_words if results else ():
        note(visible(f'no match for "{word}"'))
