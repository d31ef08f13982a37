"""Several processes and threads at one index: readers never wait and never see half, updaters take turns."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import quire
from quire import Index
from quire.index.engine.damage import CHECKED
from quire.index.engine.writer import Writer, engine_writes
from quire.index.folder import Folder
from quire.index.update_plan import Request, plan_update

UPDATES = 12


def text(version: int, number: int) -> str:
    return f"# Title {version}\n\nIn version {version}.\n" + "\n## B\n\nmore\n" * ((version + number) % 3)


UPDATER = """
    import sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from test_index_shared import UPDATES, text
    from quire import Index
    home = Path(sys.argv[1])
    for version in range(1, UPDATES):
        for number in range(30):
            (home / "docs" / f"{number}.md").write_text(text(version, number))
        Index.open(home / ".quire").update(rebuild=version % 4 == 3)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for number in range(30):
        (tmp_path / "docs" / f"{number}.md").write_text(text(0, number))
    Index.open(tmp_path / ".quire").update({"docs": tmp_path / "docs"})
    return tmp_path


def run(script: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_readers_see_whole_updates_only(home: Path) -> None:
    index = Index.open(home / ".quire")
    wrong: list[str] = []
    seen: set[str] = set()
    has_read, is_over = threading.Event(), threading.Event()

    def read() -> None:
        is_last = False
        while not is_last:
            is_last = is_over.is_set()
            titles = {record.title for record in index.documents()}
            if len(titles) != 1:
                wrong.append(f"two versions at once: {titles}")
            seen.update(titles)
            has_read.set()
            for number in range(0, 30, 7):
                nodes = index.outline(f"{number}.md")
                version = int(nodes[0].title.split()[1])
                if "".join(node.text for node in nodes) != text(version, number):
                    wrong.append(f"{number}.md is not as it was in version {version}")
                if "version" not in index.search(f"version {version}", limit=3)[0].text:
                    wrong.append("found something else")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    has_read.wait()
    updater = run(UPDATER, home, Path(__file__).parent)
    _, errors = updater.communicate()
    is_over.set()
    for reader in readers:
        reader.join()
    assert updater.returncode == 0, errors
    assert wrong == []
    assert {"Title 0", f"Title {UPDATES - 1}"} <= seen
    assert {record.title for record in index.documents()} == {f"Title {UPDATES - 1}"}


HOLDER = """
    import sys
    from pathlib import Path
    from quire.index.folder import Folder
    from quire.index.update import locked
    with locked(Folder(Path(sys.argv[1])), 0):
        print("held", flush=True)
        sys.stdin.readline()
"""


@contextmanager
def held(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process holds the lock, as if it were updating."""
    holder = run(HOLDER, home / ".quire")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        yield holder
    finally:
        holder.communicate("done\n")


def test_an_updater_waits_and_then_says_for_whom(home: Path) -> None:
    (home / "docs" / "0.md").write_text("# New\n\ntext\n")
    index = Index.open(home / ".quire")
    told: list[str] = []
    with held(home) as holder:
        with pytest.raises(quire.BusyError, match=rf"process {holder.pid} on .* \(since 2.*is updating the index"):
            index.update(wait=0.2, on_wait=told.append)
        assert len(told) == 1
        assert f"waiting for process {holder.pid} on " in told[0]
        assert index.get("0.md").title == "Title 0"
        holder.kill()  # the system ends the lock, whatever way its holder ends
        assert index.update(wait=600).changed == 1


def test_what_is_told_to_nobody_is_no_trouble_with_the_index(home: Path) -> None:
    """Who reads what a command says may be gone."""
    (home / "docs" / "0.md").write_text("# New\n\ntext\n")

    def tell(_: str) -> None:
        raise BrokenPipeError

    with held(home), pytest.raises(BrokenPipeError):
        Index.open(home / ".quire").update(on_wait=tell)


def test_whoever_has_nothing_to_do_does_not_wait(home: Path) -> None:
    with held(home):
        assert Index.open(home / ".quire").update(wait=0).unchanged == 30


def test_two_updaters_at_once_both_get_through(home: Path) -> None:
    updaters = [run(UPDATER, home, Path(__file__).parent) for _ in range(2)]
    for updater in updaters:
        _, errors = updater.communicate()
        assert updater.returncode == 0, errors
    index = Index.open(home / ".quire")
    index.update()
    for number in range(30):
        assert index.get(f"{number}.md").text == (home / "docs" / f"{number}.md").read_text()
    assert index.status().damaged is None


def test_an_open_index_sees_later_commits_and_generations(home: Path) -> None:
    index, other = Index.open(home / ".quire"), Index.open(home / ".quire")
    assert index.get("0.md").title == "Title 0"
    for rebuild in (False, True):
        (home / "docs" / "0.md").write_text(f"# Rebuilt {rebuild}\n\ntext\n")
        other.update(rebuild=rebuild)
        assert index.get("0.md").title == f"Rebuilt {rebuild}"


FULL = """
    import resource, sys
    from pathlib import Path
    import quire
    home, limit = Path(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        quire.Index.open(home / ".quire").update(rebuild=sys.argv[3] == "True", jobs=1)
    except quire.StoreError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
@pytest.mark.parametrize("rebuild", [False, True])
@pytest.mark.parametrize("limit", [0, 100, 5_000, 60_000])
def test_a_full_disk_leaves_the_old_index(home: Path, limit: int, rebuild: bool) -> None:
    words = " ".join(f"word{number}" for number in range(30_000))
    (home / "docs" / "0.md").write_text(f"# Large\n\n{words}\n")
    (home / "docs" / "1.md").unlink()
    updater = run(FULL, home, str(limit), str(rebuild))
    out, errors = updater.communicate()
    assert (updater.returncode, errors) == (0, "")
    assert ".quire: cannot be written: " in out
    assert "free some space" in out
    assert "thread" not in out
    index = Index.open(home / ".quire")
    assert index.get("0.md").title == "Title 0"
    assert index.get("1.md").text == text(0, 1)
    assert index.status().damaged is None
    done = index.update()
    assert (done.changed, done.removed, done.rebuilt) == (1, 1, None)
    assert index.get("0.md").title == "Large"
    assert len(list((home / ".quire").glob("index-*"))) == 1


@pytest.mark.parametrize(
    "said", ["it cannot (os error 28)", f"{'x' * 300} err: Os {{ code: 28, kind: StorageFull, mess"]
)
def test_what_the_system_says_is_told_however_the_engine_quotes_it(tmp_path: Path, said: str) -> None:
    with (
        pytest.raises(quire.StoreError, match="cannot be written: No space left on device; free some space"),
        engine_writes(tmp_path),
    ):
        raise ValueError(said)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_may_not_be_written_to_can_be_searched(home: Path) -> None:
    folders = [home / ".quire", *(home / ".quire").glob("index-*")]
    for folder in folders:
        folder.chmod(0o555)
    try:
        index = Index.open(home / ".quire")
        assert index.search("version")[0].title == "Title 0"
        assert index.update().unchanged == 30
        (home / "docs" / "0.md").write_text("# New\n\ntext\n")
        with pytest.raises(quire.StoreError, match=r"cannot be written: .*; correct the rights") as refused:
            index.update()
        assert "room" not in str(refused.value)
        assert index.get("0.md").title == "Title 0"
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_planning_a_first_update_leaves_one_that_has_not_committed_alone(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    unfinished = tmp_path / ".quire" / "index-1"
    unfinished.mkdir(parents=True)
    Writer(unfinished, ("english",), create=True).rollback()
    plan_update(Folder(tmp_path / ".quire"), Request(trees={"docs": str(tmp_path / "docs")}, languages={}))
    assert not (tmp_path / ".quire" / CHECKED).exists()  # where damage is remembered until the next rebuild
