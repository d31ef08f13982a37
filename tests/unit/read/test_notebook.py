"""Notebooks are read as Markdown with a map to their cells."""

from __future__ import annotations

import json

import pytest

import quire
from quire.cli import main

CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Analysis\n", "\n", "We load the data."]},
    {"cell_type": "code", "metadata": {}, "source": "import pandas\n\nframe = pandas.read_csv('a.csv')", "outputs": [{"text": "secret"}]},
    {"cell_type": "raw", "metadata": {}, "source": "raw ``` text"},
    {"cell_type": "markdown", "metadata": {}, "source": "## Results\n\nThe mean is *five*.\n\nIt is not six."},
    {"cell_type": "code", "metadata": {}, "source": []},
]  # fmt: skip
TEXT = """<!-- cell 1 -->

# Analysis

We load the data.

<!-- cell 2 -->

```python
import pandas

frame = pandas.read_csv('a.csv')
```

<!-- cell 3 -->

````
raw ``` text
````

<!-- cell 4 -->

## Results

The mean is *five*.

It is not six.
"""


@pytest.fixture
def notebook(tmp_path):
    file = tmp_path / "docs" / "a.ipynb"
    file.parent.mkdir()
    metadata = {"kernelspec": {"name": "python3", "language": "python"}}
    file.write_text(json.dumps({"cells": CELLS, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return file


@pytest.mark.parametrize("strategy", ["tree", "sections", "packed", "flow"])
def test_cells_are_markdown_and_code(notebook, strategy) -> None:
    chunks = quire.chunk_file(notebook, strategy)
    assert chunks.document.text == TEXT
    assert chunks.document.title == "Analysis"
    assert not any("cell" in chunk.embed_text or "secret" in chunk.embed_text for chunk in chunks)
    assert (chunks[0].cells[0], chunks[-1].cells[-1], chunks[0].pages) == (1, 4, ())
    assert quire.verify(TEXT, chunks) == quire.verify(TEXT, list(chunks)) == []


def test_lines_are_those_of_the_cell(notebook) -> None:
    chunks = quire.chunk_file(notebook, "packed", max_tokens=32, target_tokens=16, min_tokens=0)
    found = [(chunk.embed_text.split("\n")[-1], chunk.cells, chunk.cell_lines) for chunk in chunks]
    sources = {number: "".join(cell["source"]).split("\n") for number, cell in enumerate(CELLS, 1)}
    for chunk in chunks:
        (first, last), (first_line, last_line) = chunk.cells, chunk.cell_lines
        text = chunk.embed_text
        assert sources[first][first_line - 1 : first_line] == [] or sources[first][first_line - 1] in text
        assert last_line >= 1
        assert first <= last
    assert found[0] == ("We load the data.", (1, 1), (1, 3))
    assert chunks[1].to_dict()["cells"][0] == 2


def test_notebooks_of_a_folder_are_searched_and_cited(notebook) -> None:
    with quire.Index.open(notebook.parent.parent / ".quire") as index:
        index.update({"docs": notebook.parent})
        (hit,) = index.search("mean")
        assert (hit.id, hit.cells, hit.pages) == ("docs:a.ipynb#results", (4, 4), ())
        (citation,) = quire.cite('"The mean is five. It is not six" [docs:a.ipynb#results]', index)
        assert (citation.status, citation.places[0].lines) == ("found", (25, 27))


def test_what_is_no_notebook(tmp_path, capfd) -> None:
    (tmp_path / "a.ipynb").write_text("# No JSON\n")
    with pytest.raises(quire.InputError, match=r"a.ipynb: is no notebook: .*; save it with Jupyter"):
        quire.chunk_file(tmp_path / "a.ipynb")
    assert main(["chunk", str(tmp_path / "a.ipynb")]) == 2
    assert "is no notebook" in capfd.readouterr().err
