"""Jupyter notebooks as Markdown: each cell below a line ``<!-- cell 3 -->``, code in fences, without outputs.

This text is the source of a notebook: positions are positions in it.
"""

import re
from typing import Any

import msgspec

from quire.errors import InputError


class _Cell(msgspec.Struct):
    cell_type: str
    source: str | list[str] = ""


class _Notebook(msgspec.Struct):
    cells: list[_Cell]
    metadata: dict[str, Any] = {}


def notebook_text(text: str, name: str) -> str:
    """The cells of a notebook as Markdown."""
    try:
        notebook = msgspec.json.decode(text.encode("utf-8", "surrogatepass"), type=_Notebook)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(name, f"is no notebook: {error}", "save it with Jupyter in format 4") from error
    keys = {"language_info": "name", "kernelspec": "language"}
    tables = {name: table for name in keys if isinstance(table := notebook.metadata.get(name), dict)}
    language = next((str(table[keys[name]]) for name, table in tables.items() if table.get(keys[name])), "")
    cells = []
    for number, cell in enumerate(notebook.cells, 1):
        text = cell.source if isinstance(cell.source, str) else "".join(cell.source)
        if text.strip() and cell.cell_type != "markdown":
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
            text = f"{fence}{language if cell.cell_type == 'code' else ''}\n{text}\n{fence}"
        if text.strip():
            cells.append(f"<!-- cell {number} -->\n\n{text}\n")
    return "\n".join(cells)
