"""Runs that are killed, for test_write_killed.py. Forks, so it is a process of its own: ``killing.py OUT HOW SEED``.

    random   a run that writes one version after the other is killed 50 times, each time at a random call or return
    steps    a run is killed at its first step on the file system, at its second, and so on until it gets through

After each kill every document in the folder must be one of its versions, to the byte. Prints what was not, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import quire
from quire.output import chunk_json
from quire.output.atomic_folder import README
from quire.output.json_files import _CHUNK_FILE, file_names, write_files

PATHS = ("a.md", "b.md", "guides/a.md", "guides/deep/c.md")
SIZES = ((3, 1, 6, 2), (7, 1, 2, 2), (1, 2, 9, 0), (12, 0, 1, 5), (2, 3, 3, 1))
"""How many chunks each document has, in each version."""
STEP_SIZES = ((2, 0, 3, 1), (3, 1, 1, 0))
"""A document grows, one appears, one shrinks and one disappears: few files, because a run is killed at each step."""
STEPS = {
    "open",
    "os.link",
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.utime",
    "os.scandir",
    "shutil.rmtree",
}
MOST_EVENTS = 60_000
"""About as many as there are while three versions are written."""
Files = dict[str, bytes]


def version(number: int, sizes: tuple[int, ...]) -> list[quire.Chunks]:
    return [quire.chunk(text(number, size), "tree", path=path) for path, size in zip(PATHS, sizes, strict=True)]


def text(number: int, size: int) -> str:
    return f"---\nversion: {number}\n---\n" + "".join(f"# H{index}\n\n{number} text.\n\n" for index in range(size))


def expected(chunks: quire.Chunks) -> Files:
    names = file_names(chunks.document.path, "doc")
    before = f"{names.folder}/" if names.folder else ""
    return {before + names.file(chunk.chunk_number): chunk_json.encode(chunk, indent=2) + b"\n" for chunk in chunks}


def found(out: Path) -> dict[str, Files]:
    """All JSON files, wherever they are, by document."""
    documents: dict[str, Files] = {}
    for file in out.rglob("*.json"):
        name = file.relative_to(out).as_posix()
        match = _CHUNK_FILE.fullmatch(name)
        documents.setdefault(match["stem"] if match else name, {})[name] = file.read_bytes()
    return documents


def problems(out: Path, versions: list[list[quire.Chunks]]) -> list[str]:
    wanted: dict[str, list[Files]] = {}
    for documents in versions:
        for chunks in documents:
            names = file_names(chunks.document.path, "doc")
            name = f"{names.folder}/{names.stem}" if names.folder else names.stem
            wanted.setdefault(name, []).append(expected(chunks))
    there = found(out)
    unknown = [name for name in there if name not in wanted]
    torn = [name for name, kinds in wanted.items() if there.get(name, {}) not in kinds]
    return [f"{name}: {sorted(there.get(name, {}))}" for name in (*unknown, *torn)]


def killed_after(events: int) -> None:
    """Have this process killed after so many calls and returns, of Python's functions and of the system's."""
    left = events

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def forked(work: Callable[[], None]) -> bool:
    """Do ``work`` in a child that may be killed; whether it got through."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return not os.WIFSIGNALED(status)


def at_random(out: Path, versions: list[list[quire.Chunks]], seed: int) -> list[str]:
    chance = random.Random(seed)
    wrong: list[str] = []

    def work(events: int) -> None:
        killed_after(events)
        while True:
            for documents in versions:
                write_files(out, documents)

    for _ in range(50):
        events = chance.randrange(MOST_EVENTS)
        forked(lambda events=events: work(events))
        wrong += look(out, versions)
    return wrong


def at_each_step(out: Path, versions: list[list[quire.Chunks]], seed: int) -> list[str]:
    wrong: list[str] = []
    before, after = versions
    step, is_through = 0, False
    while not is_through:
        write_files(out, before)
        step += 1
        is_through = forked(partial(stepwise, out, after, step))
        wrong += [f"step {step}: {each}" for each in look(out, versions)]
    return wrong if step >= 40 else [*wrong, f"only {step} steps were seen"]


def stepwise(out: Path, documents: list[quire.Chunks], last: int) -> None:
    left = last

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in STEPS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    write_files(out, documents)


def look(out: Path, versions: list[list[quire.Chunks]]) -> list[str]:
    """What is wrong right after a kill. Where files are renamed one by one, a run corrects the one mixed document."""
    wrong = problems(out, versions)
    if (out / README).exists() or len(wrong) > 1:
        return wrong
    write_files(out, versions[0])
    return problems(out, versions[:1])


def main() -> None:
    out, how, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    versions = [version(number, sizes) for number, sizes in enumerate(STEP_SIZES if how == "steps" else SIZES)]
    os.sync = lambda: None  # a kill, unlike a power cut, loses nothing of the cache
    os.fsync = lambda _: None
    write_files(out, versions[0])
    wrong = {"random": at_random, "steps": at_each_step}[how](out, versions, seed)
    write_files(out, versions[1])
    wrong += problems(out, [versions[1]])
    left = sorted(each.name for each in (*out.parent.iterdir(), *(out / ".quire").iterdir()))
    sys.stdout.write(json.dumps({"wrong": wrong, "left": left}))


if __name__ == "__main__":
    main()
