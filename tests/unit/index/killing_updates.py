"""Updates that are killed, for test_index_killed.py. Forks, so it is a process of its own: ``killing_updates.py HOME SEED``.

All documents are written in one version after the other, and each time a child updates the index and is killed, 100
times, at random moments. After each kill the index opens, and all of it is of one version. Prints what was not, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from quire import Index
from quire.index import reading  # and all that an update loads, so that the children are not killed while loading it
from quire.run import cores, plan
from quire.write import atomic, lock

DOCUMENTS = 100
KILLS = 100
LOADED = (reading.read_tasks, cores.cores, plan.workers, atomic.replacing, lock.held)


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


def forked(work: Callable[[], None], wait: Callable[[int], None] = lambda child: None) -> int:
    """Do ``work`` in a child that ``wait`` may kill; its exit status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  a child that goes on would be a second parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    wait(child)
    return os.waitpid(child, 0)[1]


def main() -> None:
    home, chance = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    wrong: list[str] = []
    seen: list[int] = []

    def whole_update(version: int) -> float:
        write(home, version)
        started = time.monotonic()
        if forked(lambda: update(home, version)):
            wrong.append(f"the update to version {version} failed")
        return time.monotonic() - started

    def look() -> None:
        versions, problems = looked_at(home)
        (home / "seen").write_text(json.dumps([*versions, *problems]))

    most = max(whole_update(version) for version in (0, 1, 2))

    def updating(version: int) -> None:
        update(home, version)
        time.sleep(60)

    def kill(child: int) -> None:
        time.sleep(chance.uniform(0, most))
        os.kill(child, signal.SIGKILL)

    for version in range(3, KILLS + 3):
        write(home, version)
        if not os.WIFSIGNALED(forked(lambda version=version: updating(version), kill)):
            wrong.append(f"the update to version {version} failed")
        if forked(look):
            wrong.append("looking at it failed")
        found, *problems = json.loads((home / "seen").read_text())
        seen.append(found)
        most *= 0.9 if found == version else 1.1  # so that about half of them are killed before the end
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
