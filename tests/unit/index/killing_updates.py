"""Updates that are killed, for test_index_killed.py. Forks, so it is a process of its own: ``killing_updates.py HOME SEED``.

All documents are written in one version after the other, and each time a child updates the index and is killed, 100
times: at a random call or return of a function, or when it has changed the folder of the index a random number of times,
which is also while the engine writes. After each kill the index opens, and all of it is of one version. Prints what was
not, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from quire import Index
from quire.index import read_files
from quire.index.changed_files import Task
from quire.index.engine.writer import Writer
from quire.index.file_records import FileRecord, TreeRecord
from quire.output import atomic_file, lock
from quire.run import workers

DOCUMENTS = 8
KILLS = 100
MOST_CHANGES = 12
"""About as many as one update makes in the folder of the index."""
LOADED = (read_files.read_file, workers.cores, workers.worker_count, atomic_file.replacing, lock.held)


def write(home: Path, version: int) -> None:
    """All documents in a version; which of them there are, and how many sections they have, depends on it, too."""
    docs = home / "docs"
    docs.mkdir(exist_ok=True)
    for number in range(DOCUMENTS + 1):
        file = docs / f"{number}.md"
        if number == version % DOCUMENTS:
            file.unlink(missing_ok=True)
        else:
            file.write_text(text(version, number))


def text(version: int, number: int) -> str:
    return f"# Title {version}\n\nIn version {version}.\n" + "\n## B\n\nmore\n" * ((version + number) % 3)


def update(home: Path, version: int) -> None:
    """Every fifth time in a new generation."""
    Index.open(home / ".quire").update({"docs": home / "docs"}, rebuild=version % 5 == 4)


def looked_at(home: Path) -> tuple[list[int], list[str]]:
    """The versions that an index holds, and what else is wrong with it."""
    index = Index.open(home / ".quire")
    documents = index.documents()
    versions: set[int] = set()
    problems: list[str] = []
    for record in documents:
        version, number = int(record.title.split()[1]), int(record.path.split(".")[0])
        versions.add(version)
        if index.get(record.id).text != text(version, number):
            problems.append(f"{record.id} is not as it was in version {version}")
        if len(index.outline(record.id)) != record.nodes:
            problems.append(f"{record.id} has other nodes than are known")
    if len(documents) != DOCUMENTS:
        problems.append(f"{len(documents)} documents")
    if len(versions) != 1:
        problems.append(f"not one version: {sorted(versions)}")
    return sorted(versions), problems


def forked(work: Callable[[], object], wait: Callable[[int], int] = lambda child: os.waitpid(child, 0)[1]) -> int:
    """Do ``work`` in a child that ``wait`` may kill; its exit status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  a child that goes on would be a second parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return wait(child)


def counted(work: Callable[[], None], last: int = 0, *, behind_commit: bool = False) -> tuple[int, int]:
    """Do ``work``; return how many calls and returns of functions there are up to the commit, and in all.

    The process is killed at the ``last`` one, counted from the start or from the commit.
    """
    events = committed = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal events, committed
        events += 1
        if event == "return" and frame.f_code is Writer.commit.__code__:
            committed = events
        if (committed or not behind_commit) and events == last + committed * behind_commit:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    work()
    sys.setprofile(None)
    return committed, events


def kill_after(changes: int, folder: Path) -> Callable[[int], int]:
    """Waits for a child, which is killed when it has changed what is in ``folder`` so often."""

    def wait(child: int) -> int:
        left, before = changes, entries(folder)
        while left:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            now = entries(folder)
            left -= now != before
            before = now
        os.kill(child, signal.SIGKILL)
        return os.waitpid(child, 0)[1]

    return wait


def entries(folder: Path) -> list[tuple[str, list[str]]]:
    return [(at, names) for at, _, names in os.walk(folder)]


def killed(home: Path, version: int, chance: random.Random, committed: int, most: int) -> int:
    """Update in a child that is killed: after or before the commit, or at a change in the folder; its exit status."""
    if version % 2:
        behind_commit = version % 4 == 1
        last = chance.randrange(most - committed if behind_commit else committed)
        return forked(lambda: counted(lambda: update(home, version), last, behind_commit=behind_commit))
    changes = chance.randrange(1, MOST_CHANGES)
    return forked(lambda: update(home, version), kill_after(changes, home / ".quire"))


def main() -> None:
    home, chance = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    wrong: list[str] = []
    seen: list[int] = []

    def whole_update(version: int) -> list[int]:
        write(home, version)
        if forked(lambda: record(counted(lambda: update(home, version)))):
            wrong.append(f"the update to version {version} failed")
        events: list[int] = json.loads((home / "seen").read_text())
        return events

    def record(said: object) -> None:
        (home / "seen").write_text(json.dumps(said))

    def look() -> None:
        versions, problems = looked_at(home)
        record([*versions, *problems])

    write(home, 0)
    file = os.fsencode(home / "docs" / "1.md")
    known = FileRecord("docs", "1.md", size=1, mtime_ns=0, ctime_ns=0, racy=False)
    read_files.read_file({"docs": TreeRecord(b"", "english")}, Task(file, known))  # loads tables
    for version in (0, 1, 2):
        committed, most = whole_update(version)
    for version in range(3, KILLS + 3):
        write(home, version)
        status = killed(home, version, chance, committed, most)
        if status and not os.WIFSIGNALED(status):
            wrong.append(f"the update to version {version} failed")
        if forked(look):
            wrong.append("looking at it failed")
        found, *problems = json.loads((home / "seen").read_text())
        seen.append(found)
        wrong += problems
    whole_update(KILLS + 3)
    forked(look)
    if json.loads((home / "seen").read_text()) != [KILLS + 3]:
        wrong.append("the last update did not complete it")
    left = sorted(path.name for path in (home / ".quire").iterdir() if not path.name.startswith("index-"))
    generations = len(list((home / ".quire").glob("index-*")))
    sys.stdout.write(json.dumps({"wrong": wrong, "seen": seen, "left": left, "generations": generations}))


if __name__ == "__main__":
    main()
