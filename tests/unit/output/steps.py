"""A run during which something happens, for test_write_files.py: ``steps.py OUT STEP WHAT PATH=SIZE...``.

A process of its own, for what looks at each step on the file system cannot be taken away again.

    copying    when the folder is copied: the first link to a file that is in it
    adding     when the copy gets the new files: the first link to one of them
    moving     when the copy takes its place, and there was nothing: OUT/n

    fail       the system refuses the step, each time
    write      somebody else writes to the folder, once
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import quire
from quire.output.json_files import write_files


def step_of(event: str, arguments: tuple[object, ...], out: Path) -> str | None:
    if event == "os.link":
        return "adding" if Path(str(arguments[0])).parent.name == "stage" else "copying"
    return "moving" if event == "os.rename" and Path(str(arguments[1])) == out / "n" else None


def written_by_others(out: Path) -> None:
    (out / "late.txt").write_text("late")
    (out / "new" / "folder").mkdir(parents=True)
    (out / "new" / "folder" / "late.txt").write_text("late")
    (out / "replaced").write_text("new")
    (out / "replaced").replace(out / "old.txt")


def main() -> None:
    out, step, what = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    given = [each.split("=") for each in sys.argv[4:]]
    documents = [
        quire.chunk("".join(f"# H{n}\n\ntext {n}.\n\n" for n in range(int(size))), "tree", path=path)
        for path, size in given
    ]
    seen: list[str] = []

    def look(event: str, arguments: tuple[object, ...]) -> None:
        if step_of(event, arguments, out) == step:
            seen.append(step)
            if what == "fail":
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            if len(seen) == 1:
                written_by_others(out)

    sys.addaudithook(look)
    write_files(out, documents)
    sys.exit(0 if seen else f"there was no step {step}")


if __name__ == "__main__":
    main()
