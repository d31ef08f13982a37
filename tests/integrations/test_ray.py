"""Runs on a real Ray cluster of two nodes on this machine, compared with a run in one process."""

import os
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("ray", reason="needs the extra ray")

import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster
from ray.util.state import list_tasks

from quire.cli import command_group
from quire.run import chunk_batch, map_documents
from quire.run.parts import PART

LETHAL = "this document ends its process"


@pytest.fixture
def cluster():
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


def has_a_task(node):
    return any(task.node_id == node.node_id for task in list_tasks(filters=[("state", "=", "RUNNING")]))


@contextmanager
def killing_a_node(cluster, is_busy=has_a_task):
    """Kill a node once it is busy; a failure if it never was."""
    [node], is_over = cluster.worker_nodes, threading.Event()

    def kill_when_busy():
        while not is_busy(node):
            if is_over.wait(0.05):
                return
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()
    assert not cluster.worker_nodes


@pytest.fixture
def docs(tmp_path):
    """A folder with documents for four parts, one with a name that some readers skip, one without text."""
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    section = "## Part {}\n\n" + "Some words that fill a line, and some more of them. " * 40 + "\n\n"
    for number in range(7):
        text = "".join(section.format(each) for each in range(PART // 2 // len(section) + 1))
        (folder / "deep" / f"{number}.md").write_text(f"# Document {number}\n\n{text}")
    (folder / "_index.md").write_text("# Underscore\n\nText.\n")
    (folder / "empty.md").write_text("")
    return folder


def rows(folder: Path):
    return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def files(folder: Path):
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


def run(source, output, engine):
    arguments = ["chunk", str(source), "-o", str(output), "--engine", engine]
    result = CliRunner().invoke(command_group.quire, arguments, standalone_mode=False)
    assert result.return_value == 0, result.output
    return result


@pytest.mark.filterwarnings("ignore")
def test_rows_are_those_of_one_machine_also_after_a_second_run(cluster, docs, tmp_path):
    run(docs, tmp_path / "local", "local")
    expected = rows(tmp_path / "local")
    run(docs, tmp_path / "ray", "ray")
    assert rows(tmp_path / "ray") == expected
    assert files(tmp_path / "ray") == files(tmp_path / "local")
    assert "7 parts of 7 had been written before" in run(docs, tmp_path / "ray", "ray").output
    (docs / "deep" / "6.md").unlink()
    run(docs, tmp_path / "ray", "ray")
    assert {row["sourcePath"] for row in rows(tmp_path / "ray")} == {row["sourcePath"] for row in expected} - {
        "deep/6.md"
    }
    assert "_index.md" in {row["sourcePath"] for row in expected}
    assert "empty.md" not in {row["sourcePath"] for row in expected}


@pytest.mark.filterwarnings("ignore")
def test_a_killed_node_loses_and_doubles_nothing(cluster, docs, tmp_path):
    expected = [row for batch in map_documents(str(docs), chunk_batch) for row in batch.to_pylist()]
    signal, [doomed_id] = tmp_path / "reached", [node.node_id for node in cluster.worker_nodes]

    def slow_on_the_doomed_node(documents):
        if ray.get_runtime_context().get_node_id() == doomed_id:
            signal.touch()
            threading.Event().wait()  # until the node is killed
        return chunk_batch(documents)

    with killing_a_node(cluster, lambda node: signal.exists()):
        batches = list(map_documents(str(docs), slow_on_the_doomed_node, engine="ray"))
    assert [row for batch in batches for row in batch.to_pylist()] == expected


@pytest.mark.filterwarnings("ignore")
def test_a_document_that_kills_its_worker_is_reported(cluster, docs):
    (docs / "deep" / "lethal.md").write_text(f"# Bad\n\n{LETHAL}\n")

    def fragile(documents):
        if any(LETHAL in text for text in documents.column("text").to_pylist()):
            os._exit(1)
        return chunk_batch(documents)

    problems = []
    batches = map_documents(
        str(docs), fragile, engine="ray", on_problem=lambda path, reason: problems.append((path, reason))
    )
    paths = {row["sourcePath"] for batch in batches for row in batch.to_pylist()}
    assert [path for path, _ in problems] == ["deep/lethal.md"]
    assert "its process died" in problems[0][1]
    assert paths == {"_index.md", *(f"deep/{number}.md" for number in range(7))}


@pytest.mark.filterwarnings("ignore")
def test_a_store_has_the_rows_of_one_machine_also_if_a_node_is_killed(cluster, docs, tmp_path):
    lancedb = pytest.importorskip("lancedb", reason="needs the extra lancedb")
    pytest.importorskip("wordllama", reason="needs the extra wordllama")

    def stored(name):
        table = lancedb.connect(tmp_path / "store").open_table(name).to_arrow()
        return sorted(table.to_pylist(), key=lambda row: row["id"])

    def sync_to(name, engine):
        arguments = [
            "sync",
            str(docs),
            "--to",
            f"lancedb:{tmp_path / 'store'}#{name}",
            "--engine",
            engine,
            "--embedder",
            "wordllama",
        ]
        return CliRunner().invoke(command_group.quire, arguments, standalone_mode=False)

    assert sync_to("one_machine", "local").return_value == 0
    with killing_a_node(cluster):
        assert sync_to("cluster", "ray").return_value == 0
    assert stored("cluster") == stored("one_machine")
    assert "9 unchanged" in sync_to("cluster", "ray").output


@pytest.mark.filterwarnings("ignore")
def test_sections_in_a_store_are_those_of_one_machine_also_if_a_node_is_killed(cluster, tmp_path):
    pytest.importorskip("lancedb", reason="needs the extra lancedb")
    from integrations.written_sections import answers, page, rows, write_shards
    from quire.search.index_api import Index
    from quire.stores import NodeIndex, copy_documents, copy_nodes

    long = "\n\nA paragraph of a page that takes some time." * 15_000  # so that both nodes get work
    texts, place = {f"page-{number}.md": page(number) + long for number in range(24)}, tmp_path / "store"
    for step, texts_of_step in enumerate((texts, {**texts, "page-0.md": "# Lava\n\n[Hot](page-9.md#setup).\n"})):
        folder = tmp_path / f"docs-{step}"
        folder.mkdir()
        for path, text in texts_of_step.items():
            (folder / path).write_text(text)
        trees = {"docs": write_shards(tmp_path / "shards", texts_of_step)}
        with killing_a_node(cluster) if step == 0 else nullcontext():
            assert copy_documents(trees, f"lancedb:{place}", engine="ray").written >= 1
        with Index.open(tmp_path / f"index-{step}") as index:
            index.update({"docs": folder})
            copy_nodes(index, f"lancedb:{tmp_path / f'expected-{step}'}")
        assert rows(place) == rows(tmp_path / f"expected-{step}")
        with NodeIndex.open(f"lancedb:{place}") as written:
            assert answers(written) == answers(NodeIndex.open(f"lancedb:{tmp_path / f'expected-{step}'}"))
    assert copy_documents(trees, f"lancedb:{place}", engine="ray").unchanged == 24
