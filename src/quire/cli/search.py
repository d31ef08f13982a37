"""``quire search``: the sections that answer a query, from an index that is brought up to date first."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from shlex import quote

import click

from quire import query as queries
from quire.cli.arguments import not_empty
from quire.cli.commands import ERROR, NOTHING_FOUND
from quire.cli.hits import Printer, record, summary, tokens_of, with_breadcrumb, with_ids
from quire.cli.index_options import BUDGET, LIMIT, index_option, no_update_option
from quire.cli.indexes import Opened, opened
from quire.cli.output import count_of, echo, note, write_json_array
from quire.cli.places import exists
from quire.cli.shown import visible
from quire.errors import InputError, QueryError, near
from quire.search.hit import Hit, Results


class _Search(click.Command):
    """A query may begin with a dash, and looks like an option then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = next((each for each in given if each.startswith(error.option_name)), error.option_name)
            known = [name for param in self.params for name in param.opts]
            maybe = near(name, known, cutoff=0.7) if name.startswith("--") else ""
            hint = f"put -- before a query that begins with a dash: quire search -- {quote(name)}"
            raise click.UsageError(f"no such option: {name}{maybe}; {hint}", ctx) from error


def _patterns(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """What was given, if none is empty, which would be a variable that is not set, and there are not too many."""
    if "" in value:
        raise click.BadParameter("is empty; give a pattern as 'guides/**'", ctx, param)
    if len(value) > _MOST_PATTERNS:
        raise click.BadParameter(f"given {len(value):,} times; give at most {_MOST_PATTERNS} patterns", ctx, param)
    return value


_MOST_PATTERNS = 100
"""Every one of them is compared with every document."""


@click.command(cls=_Search)
@click.argument("query", metavar="QUERY")
@click.argument("paths", nargs=-1, metavar="[PATH...]", callback=not_empty)
@click.option("-n", "--limit", type=LIMIT, metavar="N", help="How many results at most. [default: 10]")
@click.option(
    "--max-tokens",
    type=BUDGET,
    metavar="N",
    help="How many tokens all results may have together (0: no limit); what does not fit is cut to its best parts.",
)
@click.option("--tree", "trees", multiple=True, metavar="NAME", help="Only this tree; may be given several times.")
@click.option(
    "--path",
    "globs",
    multiple=True,
    metavar="GLOB",
    callback=_patterns,
    help="Only documents whose path, in their tree or as printed, is like 'guides/**'; may be given several times.",
)
@click.option(
    "--no-merge", is_flag=True, help="Every section by itself, none in place of its parts; one may be in another."
)
@click.option("--list", "as_list", is_flag=True, help="One line a result: place, breadcrumb, tokens, score.")
@click.option("--full", is_flag=True, help="All of each text, on a terminal too.")
@click.option("--explain", is_flag=True, help="Say how each result came about.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to standard output.")
@index_option
@no_update_option
def command(
    *,
    query: str,
    paths: tuple[str, ...],
    limit: int | None,
    max_tokens: int | None,
    trees: tuple[str, ...],
    globs: tuple[str, ...],
    no_merge: bool,
    as_list: bool,
    full: bool,
    explain: bool,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Find the sections that answer a query.

    PATH is a folder or a file; without it, all trees of quire.toml are searched, else those of the index, else the
    current folder. What has changed since the last time is read first. The exit code is 1 if nothing is found.

    Put a query of several words in quotes. Without them, words that name no file or folder are a part of the query.
    Put -- before a query that begins with a dash.
    """
    query, paths = _with_words(query, paths)
    if as_list and full:
        raise click.UsageError("--list shows no text and --full all of it; choose one")
    if not _is_possible(query):
        return ERROR
    with opened(paths, index_folder=index_folder, trees=trees, update=not no_update) as place:
        if place.is_empty:
            if as_json:
                write_json_array(())
            return NOTHING_FOUND
        find = partial(
            place.index.search,
            query,
            limit=limit or place.settings.limit,
            trees=list(place.chosen.trees),
            path=place.filters(globs),
            merge=not no_merge,
            explain=explain,
        )
        budget = place.settings.max_tokens if max_tokens is None else max_tokens or None
        printer = Printer(sys.stdout, full=full, as_list=as_list, explain=explain)
        results = find(max_tokens=budget) if as_json else _to_print(find, budget, place, printer, as_list=as_list)
        hits = [_with_ids(hit, place) for hit in results] if explain else results
        files = [place.file(hit) for hit in results]
        if as_json:
            phases = results.phases if explain else None
            write_json_array(record(hit, file, phases) for hit, file in zip(hits, files, strict=True))
        else:
            printer.show(hits, files)
            if explain:
                _explain(results, place.settings.search.tie)
        sys.stdout.flush()
        if not results:
            _say_why(results, find, budget, None if as_json else (place, printer))
        elif results.phases["fit"]["left out"]:
            _say_left_out(results, find, budget or 0, None if as_json else (place, printer))
    _say(results)
    return 0 if results else NOTHING_FOUND


def _with_words(query: str, paths: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The query and the paths: words behind a query without quotes that name nothing on the disk are a part of it.

    What looks like a path is one, so that a mistyped one is not looked for as a word.
    """
    if query.split() != [query]:  # it was in quotes
        return query, paths
    words = list(takewhile(lambda each: not exists(each) and not _PATH.search(each), paths))
    paths = paths[len(words) :]
    for path in paths:
        if not exists(path):
            raise InputError(path, "no such file or folder", "check the path, or put the query in quotes")
    if words:
        query = " ".join((query, *words))
        note(f"searched {visible(quote(query))}; put a query of several words in quotes")
    return query, paths


_PATH = re.compile(r"[/\\]|\.\w+\Z")
"""What a word of a query has rarely: a slash, or the extension of a file."""


def _is_possible(query: str) -> bool:
    """Whether it can be asked; if not, says what is wrong, and where."""
    if not query.strip():
        note("quire: there is nothing to look for; give a query with a word in it")
        return False
    try:
        queries.parse(query)
    except QueryError as error:
        first, *pointed = str(error).split("\n")  # the query with a caret below it
        note(f"quire: {visible(first)}")
        for line in pointed:
            note(visible(line))
        return False
    return True


def _to_print(find: partial[Results], budget: int | None, place: Opened, printer: Printer, *, as_list: bool) -> Results:
    """The results that a budget has room for as they are printed."""
    if budget is None:
        return find()
    return _listed(find(), budget, place, printer) if as_list else _fitted(find, budget, place, printer)


_SPARE = 8
"""So many tokens, at least, may become one with others where texts meet."""
_TRIES = 8
"""After so many budgets that are too large, the first is good enough."""


def _fitted(find: partial[Results], budget: int, place: Opened, printer: Printer) -> Results:
    """The results that, with all that is printed around them, keep the budget.

    What is printed around each is counted with it. Where texts meet, some tokens become one, so there may be room for
    more: the largest budget is taken whose results fit. They are the same down to what they use.
    """
    find = partial(find, around=lambda hit: _printed([hit], place, printer) - tokens_of(hit.breadcrumb_line))
    results = find(max_tokens=budget)
    if "fit" not in results.phases:  # nothing was found
        return results
    used = results.phases["fit"]["tokens"]
    most = budget + max(used - _printed(results, place, printer), _SPARE)
    for _ in range(_TRIES):
        more = find(max_tokens=most)
        if _printed(more, place, printer) <= budget:
            return more
        most = more.phases["fit"]["tokens"] - 1
    while (printed := _printed(results, place, printer)) > budget:  # signs that are no text take more room in print
        used = results.phases["fit"]["tokens"]
        less = min(used - 1, used * budget // printed)
        results = find(max_tokens=less) if less > 0 else _first(results, 0)
    return results


def _listed(results: Results, budget: int, place: Opened, printer: Printer) -> Results:
    """As many results, the best first, as a list has room for."""
    fit = bisect_right(range(1, len(results) + 1), budget, key=lambda most: _printed(results[:most], place, printer))
    return _first(results, fit)


def _first(results: Results, number: int) -> Results:
    """The first of the results, with all that is known beside them."""
    return Results(
        results[:number],
        query=results.query,
        ignored_terms=results.ignored_terms,
        partial=results.partial,
        corrections=results.corrections,
        phases=results.phases,
    )


def _printed(results: Sequence[Hit], place: Opened, printer: Printer) -> int:
    """How many tokens results have, with all that is printed around their text."""
    return tokens_of(printer.plain(results, [place.file(hit) for hit in results]))


def _say_why(
    results: Results, find: partial[Results], budget: int | None, printed: tuple[Opened, Printer] | None
) -> None:
    """Why there are no results: the query has no words, nothing is like it, or nothing that is fits."""
    if queries.parse(results.query) is None:
        note("nothing found: there is nothing to look for in the query; give it a word")
        return
    best = find(limit=1) if budget is not None and "fit" in results.phases else None
    if best:
        size = _size(best, printed)
        note(f"nothing fits in {count_of(budget or 0, 'token')}; the best result has {size} in all")
    else:
        note("nothing found")


def _say_left_out(
    results: Results, find: partial[Results], budget: int, printed: tuple[Opened, Printer] | None
) -> None:
    """That there are better results than some that are shown, and what the best one takes."""
    number = results.phases["fit"]["left out"]
    said = f"left out {count_of(number, 'better result')} that {'does' if number == 1 else 'do'} not fit"
    best = find(limit=1)
    size = f"; the best has {_size(best, printed)} in all" if best[0].id != results[0].id else ""
    note(f"{said} in {count_of(budget, 'token')}{size}")


def _size(best: Results, printed: tuple[Opened, Printer] | None) -> str:
    """How much the best result takes, as it is given or printed."""
    return count_of(with_breadcrumb(best[0]) if printed is None else _printed(best, *printed), "token")


def _with_ids(hit: Hit, place: Opened) -> Hit:
    return with_ids(hit, {node.position: node.id for node in place.index.outline(f"{hit.tree}:{hit.path}")})


def _explain(results: Results, tie: float) -> None:
    """How all of the results came about."""
    if results:
        echo()
    for line in summary(results.phases, tie):
        echo(visible(line))


def _say(results: Results) -> None:
    """What else there is to know about the results."""
    if results.ignored_terms:
        from quire.search.term_limit import MAX_TERMS  # noqa: PLC0415  loaded by the search

        note(f"only {MAX_TERMS} terms of the query were searched; {results.ignored_terms:,} were ignored")
    for word, instead in results.corrections.items():
        note(f"{visible(word)}: occurs nowhere, searched {visible(_either(instead))}")
    if results.partial:
        note("nothing has all of the words; these have some")


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
