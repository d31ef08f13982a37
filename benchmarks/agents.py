"""What an agent spends: tokens until the right section was shown, and time until and between answers.

Neighbours: agent_routes.py has the ways to an answer, linkqa.py the questions.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median

from benchmarks import linkqa, svg
from benchmarks.agent_routes import Project, Route, Spent, count, most_matches, requests, shortest
from quire.mcp.answers import DEFAULT_TOKENS, Service
from quire.mcp.tools import Search
from quire.workspace.workspace import Workspace

QUESTIONS = 200
ROUNDS = 5
MANY = 10_000
WHOLE_FILES = "grep, then whole files"
_SDK = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(context, params):
    return types.ListToolsResult(tools=[])
async def call(context, params):
    return types.CallToolResult(content=[types.TextContent(text="found")])
server = Server("bare", on_list_tools=tools, on_call_tool=call)
async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""
"""The least that a server of the SDK can be."""


def run() -> list[str]:
    """Tables as lines of Markdown; the picture is beside them."""
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    lines: list[str] = []
    spent: dict[str, dict[str, list[Spent]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for collection in (linkqa.docker(data), linkqa.kubernetes(data)):
            questions = random.Random(17).sample(collection.questions, QUESTIONS)
            project = Project(collection, questions, Path(folder) / collection.name)
            routes: dict[str, Route] = {
                "`search`": project.search,
                "`search` with `list`, then `get`": project.places_then_get,
                "`search --list`, then `get`": project.list_then_get,
                WHOLE_FILES: partial(project.files, order=most_matches),
                "grep with 20 lines around": partial(project.lines, order=most_matches),
                "grep, then whole files, short ones first": partial(project.files, order=shortest),
                "grep with 20 lines around, short files first": partial(project.lines, order=shortest),
            }
            spent[collection.name] = {
                name: [project.spent(question, route) for question in questions] for name, route in routes.items()
            }
        lines += _spent_table(spent)
        lines += ["", "![Tokens until the right section was shown](../../docs/images/agents.svg)", "", *_times(project)]
    (Path(__file__).parents[1] / "docs" / "images" / "agents.svg").write_text(_picture(spent), encoding="utf-8")
    return lines


def _spent_table(spent: dict[str, dict[str, list[Spent]]]) -> list[str]:
    head = [
        f"{QUESTIONS} links of each collection, asked with their own words; the links themselves were removed.",
        "Tokens are those of everything that was shown until the right section was, in at most ten steps; questions",
        "without success count with all that was shown. The first order of grep has the most success of five that were",
        "tried, the second costs least.",
        "",
        "| | way | found | tokens, mean | median | of whole files | steps |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = []
    for name, routes in spent.items():
        whole = mean(each.tokens for each in routes[WHOLE_FILES])
        for route, each in routes.items():
            tokens = mean(one.tokens for one in each)
            found = mean(one.is_found for one in each)
            rows.append(
                f"| {name} | {route} | {found:.1%} | {tokens:,.0f} | {median(one.tokens for one in each):,.0f} "
                f"| {tokens / whole:.2f} | {mean(one.steps for one in each):.1f} |"
            )
    return [*head, *rows]


def _times(project: Project) -> list[str]:
    queries = [question.text for question in project.questions[:100]]
    served = [sys.executable, "-m", "quire", "mcp", str(project.folder), "--index", str(project.index)]
    own, bare = _first_answers([served, [sys.executable, "-c", _SDK]], queries[0])
    searching, answering = _later_answers(project, queries)
    checking, files = _check()
    calls = _calls(served, queries)
    return [
        "CPU time, the best of several rounds, all in turn.",
        "",
        "| | ms |",
        "|---|---|",
        f"| start of a server that has only the SDK, to its first answer | {bare * 1e3:.0f} |",
        f"| start of `quire mcp` with {len(project.texts):,} unchanged files, to its first answer | {own * 1e3:.0f} |",
        f"| the second over the first | {own / bare:.2f} |",
        f"| `Index.search`, five results in {DEFAULT_TOKENS:,} tokens | {searching * 1e3:.1f} |",
        f"| the tool `search` with the check for changes | {answering * 1e3:.1f} |",
        f"| the second above the first | {(answering - searching) * 1e3:.1f} |",
        f"| the check of {files:,} unchanged files | {checking * 1e3:.1f} |",
        f"| a call of the server after its first, median | {median(calls) * 1e3:.1f} |",
        f"| the same, 99 of 100 | {calls[len(calls) * 99 // 100] * 1e3:.1f} |",
    ]


def _first_answers(commands: Sequence[list[str]], query: str) -> list[float]:
    """The CPU time of each server from its start to its first answer and end."""
    best = [float("inf")] * len(commands)
    for _ in range(ROUNDS):
        for number, command in enumerate(commands):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            ) as server:
                for message in requests(query):
                    server.stdin.write(f"{message}\n")
                server.stdin.flush()
                while '"id":2' not in server.stdout.readline():
                    pass
                server.stdin.close()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best[number] = min(best[number], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def _calls(command: list[str], queries: Sequence[str]) -> list[float]:
    """The CPU seconds of all threads of a server for each call after its first, sorted."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:

        def ask(messages: Sequence[str], number: int) -> float:
            tasks = Path(f"/proc/{server.pid}/task")
            before = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir())
            server.stdin.write("".join(f"{message}\n" for message in messages))
            server.stdin.flush()
            while json.loads(server.stdout.readline()).get("id") != number:
                pass
            return (sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) - before) / 1e9

        ask(requests(queries[0]), 2)
        taken = []
        for number, query in enumerate(queries, 3):
            time.sleep(0.01 if number > 3 else 1.0)  # the counter is loaded after the first answer
            taken.append(ask([requests(query)[-1].replace('"id": 2', f'"id": {number}')], number))
        server.stdin.close()
    return sorted(taken)


def _later_answers(project: Project, queries: Sequence[str]) -> tuple[float, float]:
    """The mean over queries of each one's best time: of the search alone, and of the tool."""
    with Workspace.open([str(project.folder)], index=str(project.index)) as workspace:
        service = Service(workspace, count, DEFAULT_TOKENS)

        def ask(query: str) -> None:
            workspace.refresh()
            Search(query=query).answer(service)

        works = [lambda query: workspace.index.search(query, limit=5, max_tokens=DEFAULT_TOKENS), ask]
        best = [[float("inf")] * len(queries) for _ in works]
        for _ in range(ROUNDS):
            for at, query in enumerate(queries):
                for number, work in enumerate(works):
                    best[number][at] = min(best[number][at], _cpu(lambda work=work, query=query: work(query)))
    return mean(best[0]), mean(best[1])


def _check() -> tuple[float, int]:
    """The time of checking many unchanged files."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        for number in range(MANY):
            file = docs / f"{number // 100}" / f"{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Page {number}\n\nText.\n", encoding="utf-8")
        with Workspace.open_updated([str(docs)], index=f"{folder}/.quire") as workspace:
            time.sleep(0.1)  # until the files are old enough to be trusted
            workspace.refresh()
            return min(_cpu(workspace.refresh) for _ in range(2 * ROUNDS)), MANY


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _picture(spent: dict[str, dict[str, list[Spent]]]) -> str:
    width, left, right, top, row = 900, 370, 190, 60, 24
    longest = max(mean(each.tokens for each in one) for routes in spent.values() for one in routes.values())
    scale = (width - left - right) / longest
    title = "Tokens an agent is shown until it has seen the right section"
    shapes = [svg.text(16, 26, title, "title"), svg.text(width - 16, 48, "right section seen", "small quiet", "end")]
    at = top
    for name, routes in spent.items():
        shapes.append(svg.text(16, at + 15, name, "quiet"))
        for route, each in routes.items():
            tokens, found = mean(one.tokens for one in each), mean(one.is_found for one in each)
            shapes += [
                svg.text(left - 10, at + 15, route.replace("`", ""), anchor="end"),
                svg.bar(left, at + 3, tokens * scale, row - 8, "own" if "search" in route else "other"),
                svg.text(left + tokens * scale + 6, at + 15, f"{tokens:,.0f}", "small"),
                svg.text(width - 16, at + 15, f"{found:.0%}", "", "end"),
            ]
            at += row
        at += row // 2
    return svg.picture(width, at + 10, title, shapes)
