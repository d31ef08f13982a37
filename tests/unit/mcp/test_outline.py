"""What the tool ``outline`` takes a path for."""

from __future__ import annotations

import pytest

from quire.errors import NotFoundError
from quire.mcp.answers import Service
from quire.mcp.tools import Outline
from quire.workspace.workspace import Workspace


@pytest.fixture
def service(tmp_path):
    for name in ("auth/one.md", "auth/two.md", "other/auth.md", "other/rare.md"):
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n")
    with Workspace.open_updated([str(tmp_path / "docs")], index=str(tmp_path / ".quire")) as workspace:
        yield Service(workspace, len, 2_000)


@pytest.mark.parametrize(
    ("path", "documents"),
    [
        ("auth", ["auth/one.md", "auth/two.md"]),  # the folder, not the document with this name in another one
        ("auth/", ["auth/one.md", "auth/two.md"]),
        ("auth.md", ["other/auth.md"]),
        ("rare", ["other/rare.md"]),
        ("other/auth.md:1", ["other/auth.md"]),
        ("*.md", ["auth/one.md", "auth/two.md", "other/auth.md", "other/rare.md"]),
    ],
)
def test_a_path_is_a_document_a_folder_or_a_pattern(service, path, documents) -> None:
    rows = Outline(path=path).answer(service).record["rows"]
    assert [row[0] for row in rows] == [f"docs:{document}" for document in documents]


def test_a_path_that_is_nothing(service) -> None:
    with pytest.raises(NotFoundError, match="outline without a path lists all"):
        Outline(path="nowhere/auth.md").answer(service)
