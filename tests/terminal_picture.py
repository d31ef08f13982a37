"""``make pictures``: write docs/images/terminal.svg, what a terminal shows of two commands.

    python tests/terminal_picture.py FILE

The commands run on a terminal of 80 columns and 45 rows, in a folder with docs/strategies/guide.md as docs/guide.md.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path

from surfaces.processes import terminal

COMMANDS = ("quire outline docs/guide.md", 'quire search "when is a hook tried again" docs/')
EXAMPLE = Path(__file__).parents[1] / "docs" / "strategies" / "guide.md"
COLUMNS, ROWS, CHAR, LINE, MARGIN = 80, 45, 8.43, 20, 18
STYLES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
"""Classes of the picture by the codes of a terminal: bold, dim and colours."""
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{label}">
<style>
text {{ font: 14px ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d4dae3; white-space: pre }}
.b {{ font-weight: 700; fill: #fff }} .d {{ fill: #8b95a5 }} .r {{ fill: #ff8f8f; font-weight: 700 }}
.g {{ fill: #8fd694 }} .y {{ fill: #e8c878 }} .c {{ fill: #7fd0e6 }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#171b22"/>
"""


def main(target: Path) -> None:
    """Run the commands and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").mkdir()
        shutil.copy(EXAMPLE, Path(folder) / "docs")
        shown = [screen(command, Path(folder)) for command in COMMANDS]
    target.write_text(picture("\n\n".join(shown)), "utf-8")


def screen(command: str, folder: Path) -> str:
    """A command and what a terminal shows of it."""
    code, text = terminal(
        *shlex.split(command)[1:], environment={"COLUMNS": str(COLUMNS), "LINES": str(ROWS)}, cwd=folder
    )
    if code:
        sys.exit(f"{command}: exit code {code}\n{text}")
    return f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m\n{text.rstrip()}"


def picture(text: str) -> str:
    """The lines of a terminal as SVG."""
    lines = re.sub(r"\x1b\]8;;[^\x1b]*\x1b\\", "", text).split("\n")  # the picture has no links
    width, height = round(COLUMNS * CHAR) + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    rows = [row(line, MARGIN + LINE * number + 14) for number, line in enumerate(lines)]
    label = escape("A terminal with: " + ", ".join(COMMANDS))
    return HEAD.format(width=width, height=height, label=label) + "".join(filter(None, rows)) + "</svg>\n"


def row(line: str, y: int) -> str:
    """A line; each piece stands at its own column, whatever font the reader has."""
    column = 0
    classes: list[str] = []
    pieces: list[str] = []
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b"):
            classes = [] if piece == "\x1b[0m" else [*classes, STYLES[piece[2:-1]]]
        elif piece:
            style = f' class="{" ".join(classes)}"' if classes else ""
            size = f'x="{MARGIN + column * CHAR:.1f}" textLength="{len(piece) * CHAR:.1f}"'
            pieces.append(f"<tspan {size}{style}>{escape(piece)}</tspan>" if piece.strip() else "")
            column += len(piece)
    return f'<text y="{y}">{"".join(pieces)}</text>\n' if pieces else ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
