"""Search by meaning: vectors beside the index, kept in step with it."""

import subprocess
import sys
import zlib
from pathlib import Path

import anyio
import pytest

np = pytest.importorskip("numpy", reason="needs the extra wordllama")

import quire  # noqa: E402
from quire.cli import main  # noqa: E402
from quire.embed import endpoint  # noqa: E402
from quire.embed.embedder import FunctionEmbedder  # noqa: E402
from quire.embed.endpoint import Endpoint  # noqa: E402
from quire.search import vector_search  # noqa: E402
from support.embedding_server import serving  # noqa: E402

FOLDERS = [str(each) for each in Path(__file__).parents[:2]]
SYNONYMS = {"erase": "delete", "remove": "delete", "automobile": "car"}
PAGES = {
    "cars.md": "# Car\n\nA car has four wheels.\n\n## Brakes\n\nPress the pedal.\n",
    "data.md": "# Data\n\nHow to erase a record.\n\n## Backup\n\nCopy the files every night.\n",
}


def vectors(texts):
    """A vector for each text: words hashed to places, the same place for words that mean the same."""
    made = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in zip(made, texts, strict=True):
        for word in text.lower().replace(".", "").replace("#", "").split():
            row[zlib.crc32(SYNONYMS.get(word, word).encode()) % 64] += 1
    return made


class Counting:
    """An embedder that remembers what it was given."""

    def __init__(self, version="1", function=vectors):
        self.name, self.version, self.window = "counting", version, 0
        self.texts = []
        self._function = function

    def embed(self, texts):
        self.texts += texts
        return self._function(texts)


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for path, text in PAGES.items():
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def index(docs, tmp_path):
    with quire.Index.open(tmp_path / ".quire") as made:
        made.update({"docs": docs})
        yield made


def ids(results):
    return [hit.id for hit in results]


def test_progress_counts_documents(index, docs, monkeypatch):
    """It counted batches of documents, so that it ended far below the total."""
    monkeypatch.setattr(vector_search, "_TEXTS", 4)
    for path, text in PAGES.items():
        (docs / f"more-{path}").write_text(text)
    index.update()
    steps = []
    index.embed(vectors, on_progress=lambda *step: steps.append(step))
    assert [step[:2] for step in steps] == [(0, 4), (2, 4)]


def test_a_section_is_found_without_any_of_its_words(index):
    index.embed(vectors)
    assert ids(index.search("automobile")) == []
    assert ids(index.search("automobile", mode="meaning", merge=False))[0] == "docs:cars.md#car"
    assert ids(index.search("automobile", mode="hybrid", merge=False))[0] == "docs:cars.md#car"
    assert ids(index.search("pedal", mode="hybrid"))[0] == "docs:cars.md#brakes"


def test_trees_paths_and_budgets_hold(index):
    index.embed(vectors)
    assert {hit.path for hit in index.search("automobile", mode="meaning", path="data.md", every=True)} <= {"data.md"}
    found = index.search("automobile wheels", mode="hybrid", max_tokens=64)
    assert found
    assert sum(hit.tokens for hit in found) <= 64


def test_a_query_with_operators_is_searched_by_words(index):
    index.embed(vectors)
    assert ids(index.search("automobile -car", mode="hybrid")) == []
    assert ids(index.search('"every night"', mode="meaning")) == ids(index.search('"every night"'))


def test_only_new_text_is_embedded(index, docs):
    embedder = Counting()
    assert index.embed(embedder).embedded == 4
    assert index.embed(embedder) == (0, 0, 0)
    (docs / "data.md").write_text(PAGES["data.md"].replace("every night", "every hour"))
    (docs / "cars.md").rename(docs / "vehicles.md")
    index.update()
    embedder.texts.clear()
    done = index.embed(embedder)
    assert (done.embedded, done.documents, done.removed) == (1, 2, 1)
    assert "every hour" in embedder.texts[0]
    assert ids(index.search("automobile", mode="meaning", merge=False))[0] == "docs:vehicles.md#car"


def test_changed_text_never_has_its_old_vector(index, docs):
    index.embed(Counting())
    (docs / "cars.md").write_text("# Ship\n\nA ship floats.\n")
    index.update()
    assert "docs:cars.md#ship" not in ids(index.search("automobile", mode="meaning", every=True))
    assert ids(index.search("ship", mode="hybrid"))[0] == "docs:cars.md#ship"
    assert index.status().without_vectors == 2
    index.embed()
    assert index.status().without_vectors == 0


def test_another_model_takes_over_when_it_is_complete(index, tmp_path):
    index.embed(Counting("1"))

    def failing(texts):
        raise ConnectionError("down")

    with pytest.raises(ConnectionError):
        index.embed(Counting("2", failing))
    with quire.Index.open(tmp_path / ".quire") as again:
        with pytest.raises(quire.StoreError, match="counting"):
            again.search("automobile", mode="meaning")
        again.embed(Counting("1"))
        assert again.search("automobile", mode="meaning")
        again.embed(Counting("2"))
    assert len(list((tmp_path / ".quire").glob("vectors-*"))) == 1


def test_bad_vectors_are_one_clear_error(index):
    with pytest.raises(quire.EmbedderError, match="one vector of finite numbers per text"):
        index.embed(lambda texts: np.zeros((1, 3)))
    with pytest.raises(quire.EmbedderError, match="finite"):
        index.embed(lambda texts: np.full((len(texts), 3), np.nan))
    index.embed(FunctionEmbedder(vectors, name="m"))
    (index._folder.home / "docs" / "new.md").write_text("# New\n\nText.\n")
    index.update()
    with pytest.raises(quire.StoreError, match="3 numbers per vector, and 64 before"):
        index.embed(FunctionEmbedder(lambda texts: np.ones((len(texts), 3)), name="m"))
    assert index.status().without_vectors == 2


@pytest.fixture
def server(monkeypatch):
    """An endpoint, which gets a document's texts at a time."""
    monkeypatch.setattr(vector_search, "_TEXTS", 1)
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.0)
    with serving() as made:
        yield made


THREE_NUMBERS = (200, {}, {"data": [{"index": at, "embedding": [1, 2, 3]} for at in range(2)]})


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ((503, {"Retry-After": "9"}, {"error": {"message": "busy"}}), quire.EmbedderError, "status 503: busy; gave up"),
        (
            (401, {}, {"error": {"message": "no such key"}}),
            quire.EmbedderError,
            "status 401: no such key; check the URL",
        ),
        ("wait", quire.EmbedderError, "no answer .*timed out.*; gave up after 2 s"),
        (THREE_NUMBERS, quire.StoreError, "3 numbers per vector, and 2 before"),
    ],
)
def test_an_endpoint_that_fails_half_way_is_one_error_and_what_is_done_stays(index, server, answer, error, message):
    server.planned = [None, answer, "wait", "wait", "wait"]
    with pytest.raises(error, match=message):
        index.embed(Endpoint(server.url, "m", time_limit=2))
    server.planned.clear()
    server.seen.clear()
    assert index.search("pedal")[0].id == "docs:cars.md#brakes"
    assert index.embed(Endpoint(server.url, "m")).embedded == 2
    assert len(server.seen) == 1
    assert index.status().without_vectors == 0


def test_an_endpoint_that_is_down(index):
    with serving() as gone:
        url = gone.url
    with pytest.raises(quire.EmbedderError, match=r"no answer \(.*refused.*\); gave up after 0 s; try again later"):
        index.embed(Endpoint(url, "m", time_limit=0))
    assert ids(index.search("pedal")) == ["docs:cars.md#brakes"]


def test_a_model_of_the_environment_or_of_the_users_own_file(docs, tmp_path, server, monkeypatch, capsys):
    """An index never says where its texts go: its endpoint is named again, and must be of the same model."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    where = [str(docs), "--index", str(tmp_path / ".quire")]
    model = {"QUIRE_EMBED_ENDPOINT": server.url, "QUIRE_EMBED_MODEL": "m", "QUIRE_EMBED_DIMENSIONS": "2"}
    search = ["search", "automobile", *where, "--mode", "meaning", "--list"]
    with monkeypatch.context() as patch:
        for name, value in model.items():
            patch.setenv(name, value)
        assert main(["index", *where, "--vectors"]) == 0
        assert "4 texts embedded" in capsys.readouterr().out
        assert main([*search, "--no-update"]) == 0
    assert [body["input"] for _, body, _ in server.seen][2:] == [["automobile"]]
    assert main(search) == 2
    assert "its vectors are those of m 2 dimensions; name this model: [embed]" in capsys.readouterr().err
    (tmp_path / "home" / "quire").mkdir(parents=True)
    (tmp_path / "home" / "quire" / "quire.toml").write_text(
        f'[embed]\nendpoint = "{server.url}"\nmodel = "m"\ndimensions = 2\nquery_prefix = "query: "\n'
    )
    (docs / "new.md").write_text("# New\n\nText.\n")
    assert main(search) == 0
    assert [body["input"] for _, body, _ in server.seen][3:] == [["New\n\n\nText."], ["query: automobile"]]
    (docs / "q.jsonl").write_text('{"query": "automobile", "answers": ["cars.md"]}\n')
    (docs / "more.md").write_text("# More\n\nSee [four wheels](cars.md) and [every night](data.md#backup).\n")
    for questions in (["--questions", str(docs / "q.jsonl")], []):
        assert main(["eval", *where, *questions, "--mode", "meaning"]) == 0
    assert main(["index", *where, "--no-vectors", "--vectors"]) == 2


HALF_WAY = """
import os, sys
sys.path[:0] = {folders!r}
import quire
from quire.search import vector_search
from test_vectors import Counting, vectors
vector_search._TEXTS = 1
calls = []
def embed(texts):
    calls.append(texts)
    if len(calls) == 2:
        os._exit(9)
    return vectors(texts)
with quire.Index.open(sys.argv[1]) as index:
    index.embed(Counting("2", embed))
"""


def test_the_old_model_is_used_until_the_new_one_is_complete(index, tmp_path):
    folder = tmp_path / ".quire"
    index.embed(Counting("1"))
    script = HALF_WAY.format(folders=FOLDERS)
    killed = subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    assert killed.returncode == 9
    assert len(list(folder.glob("vectors-*"))) == 2
    assert ids(index.search("automobile", mode="meaning", merge=False))[0] == "docs:cars.md#car"
    found = []

    def while_it_embeds(texts):
        found.append(ids(index.search("automobile", mode="meaning", merge=False))[0])
        return vectors(texts)

    with quire.Index.open(folder) as again:
        new = Counting("2", while_it_embeds)
        assert again.embed(new).embedded == 2
        assert found == ["docs:cars.md#car"]
        new._function = vectors
        assert ids(again.search("erase", mode="meaning", merge=False))[0] == "docs:data.md#data"
    assert len(list(folder.glob("vectors-*"))) == 1


def test_a_search_by_words_loads_no_model(index, docs, tmp_path):
    index.embed(vectors)
    code = (
        "import sys; from quire.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert not {'numpy', 'wordllama', 'tokenizers', 'quire.embed.embedder'} & set(sys.modules)\n"
    )
    arguments = ["search", "pedal", str(docs), "--index", str(tmp_path / ".quire")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cars.md" in done.stdout


def test_without_vectors_the_other_modes_say_what_to_do(index):
    with pytest.raises(quire.StoreError, match="run: quire index --vectors, or"):
        index.search("car", mode="hybrid")
    with pytest.raises(quire.OptionError, match="'words', 'meaning', 'hybrid'"):
        index.search("car", mode="magic")


KILLED = """
import os, sys
sys.path[:0] = {folders!r}
import quire
from test_vectors import Counting, vectors
left = int(sys.argv[1])
def count(*arguments):
    global left
    left -= 1
    if left == 0:
        os._exit(9)
for name in ("write", "replace", "fsync"):
    real = getattr(os, name)
    setattr(os, name, lambda *a, _real=real, **k: (count(), _real(*a, **k))[1])
def embed(texts):
    count()
    made = vectors(texts)
    count()
    return made
import quire.search.vector_search as vector_search
vector_search._TEXTS = 2
with quire.Index.open(sys.argv[2]) as index:
    index.embed(Counting("1", embed))
"""


def test_killed_anywhere_it_ends_in_the_same_state(index, docs, tmp_path):
    for number in range(6):
        (docs / f"page{number}.md").write_text(f"# Page {number}\n\nText {number}.\n\n## Part\n\nMore {number}.\n")
    index.update()
    script = KILLED.format(folders=FOLDERS)
    codes = []
    for left in range(1, 60):
        codes.append(
            subprocess.run([sys.executable, "-c", script, str(left), str(tmp_path / ".quire")], check=False).returncode
        )
        with quire.Index.open(tmp_path / ".quire") as found:
            assert ids(found.search("Press the pedal"))[0] == "docs:cars.md#brakes"
        if codes[-1] == 0:
            break
    assert set(codes[:-1]) == {9}
    assert codes[-1] == 0
    with quire.Index.open(tmp_path / ".quire") as found:
        assert found.status().without_vectors == 0
        embedder = Counting("1")
        assert found.embed(embedder) == (0, 0, 0)
        assert ids(found.search("automobile", mode="meaning", merge=False))[0] == "docs:cars.md#car"


def test_agents_may_choose_a_mode_if_there_are_vectors(docs, tmp_path, server, monkeypatch):
    pytest.importorskip("mcp")
    from quire.mcp.answers import Service
    from quire.mcp.server import AgentServer
    from quire.mcp.tools import Search, VectorSearch
    from quire.workspace.workspace import Workspace

    def listed(workspace):
        (search, *_) = anyio.run(AgentServer(Service(workspace, len, 10_000))._list_tools, None, None).tools
        return search.input_schema["properties"].get("mode")

    (tmp_path / "home" / "quire").mkdir(parents=True)
    (tmp_path / "home" / "quire" / "quire.toml").write_text(f'[embed]\nendpoint = "{server.url}"\nmodel = "m"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    with Workspace.open_updated([str(docs)], index=str(tmp_path / ".quire")) as workspace:
        assert listed(workspace) is None
        workspace.index.embed(Endpoint(server.url, "m"))
    with Workspace.open([str(docs)], index=str(tmp_path / ".quire")) as workspace:
        assert listed(workspace) == {"type": "string", "enum": ["words", "meaning", "hybrid"], "default": "words"}
        service = Service(workspace, len, 10_000)
        assert Search(query="automobile").answer(service).record["total"] == 0
        assert VectorSearch(query="automobile", mode="meaning").answer(service).record["total"] > 0
