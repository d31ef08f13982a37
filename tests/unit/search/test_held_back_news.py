"""Release notes, changelogs and blogs rank behind the manual, unless a query asks for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import quire
from quire.index.news_paths import is_news
from quire.search.search_settings import SearchSettings

MANUAL = "# Settings\n\nThe option autosave is described here: it stores files at once.\n"
NOTE = "# January\n\n## Editor\n\nThe option autosave is new: it stores files at once.\n"
Search = Callable[..., list[str]]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "release-notes/v1_75.md",
            "release-notes.md",
            "release_notes/v1.md",
            "ReleaseNotes.md",
            "release-notes-2.0.md",
        ),
        *("docs/platform-release-notes.md", "v1.2-release-notes.md", "releases/1.0.md", "relnotes.md"),
        *("CHANGELOG.md", "CHANGELOG", "CHANGELOG-1.28.md", "changelog/index.md", "changelog.d/1.md", "Changelog.mdx"),
        *("whats-new.md", "whats-new-in-1.2.md", "what's-new.md", "whatsnew/3.12.rst", "updates/v1_75.md"),
        *(
            "blog/intro.md",
            "docs/blog/posts/x.md",
            "_posts/2024-01-02-title.md",
            "blogs/2016/02/08/intro.md",
            "news/x.md",
        ),
        *("2024-01-02-title.md", "a/2024-01-02.md", "articles/2024/01/02/x.md", "HISTORY.md", "NEWS", "CHANGES.txt"),
    ],
)
def test_paths_of_news(path: str) -> None:
    assert is_news(path)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "rolling-updates.md",
            "tasks/updates/apply.md",
            "body-updates.md",
            "release-lifecycle.md",
            "about/releases.md",
        ),
        *(
            "newsletter.md",
            "newsroom/x.md",
            "plugins/blog.md",
            "setup/setting-up-a-blog.md",
            "tutorials/blogs/basic.md",
        ),
        *("change-log-level.md", "changelog-generator.md", "automatically-generated-release-notes.md", "history.md"),
        *("api/2022-11-28/repos.md", "what-is-new-relic.md", "whats-next.md", "release-profiles.md", "weblog/x.md"),
    ],
)
def test_paths_of_a_manual(path: str) -> None:
    assert not is_news(path)


@pytest.fixture
def found(tmp_path: Path) -> Search:
    """The paths of the results in an index of some files."""

    def search(files: dict[str, str], query: str, **settings: float) -> list[str]:
        trees = {path.split("/")[0]: tmp_path / path.split("/")[0] for path in files}
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        with quire.Index.open(tmp_path / ".quire", settings=SearchSettings(**settings)) as index:  # type: ignore[arg-type]
            index.update(trees)
            return [hit.path for hit in index.search(query, every=True)]

    return search


SITE = {
    "docs/release-notes/v1_75.md": NOTE,
    "docs/settings.md": MANUAL + "It needs a disk. " * 4,
    **{f"docs/page{number}.md": "# Page\n\nText.\n" for number in range(20)},
}


def test_news_comes_after_the_manual(found: Search) -> None:
    assert found(SITE, "option autosave", news=1.0)[0] == "release-notes/v1_75.md"
    assert found(SITE, "option autosave")[0] == "settings.md"


@pytest.mark.parametrize(
    "query",
    ["autosave release notes", "option autosave changelog", "what's new option autosave", "option autosave 1.75"],
)
def test_a_query_that_asks_for_news_gets_it(found: Search, query: str) -> None:
    assert found(SITE, query)[0] == "release-notes/v1_75.md"


def test_another_version_is_not_asked_for(found: Search) -> None:
    assert found(SITE, "option autosave 1.7")[0] == "settings.md"


def test_a_pasted_sentence_of_news_comes_first(found: Search) -> None:
    query = "The option autosave is new: it stores files at once"
    assert found(SITE, query)[0] == "release-notes/v1_75.md"


def test_a_tree_of_news_is_not_held_back(found: Search) -> None:
    posts = {f"site/blog/2024-01-0{number}-post.md": NOTE for number in range(1, 4)}
    manual = {path: text for path, text in SITE.items() if "release-notes" not in path}
    assert found({**posts, **manual}, "option autosave")[0].startswith("blog/")


def test_many_news_do_not_hide_the_manual(found: Search) -> None:
    notes = {f"docs/release-notes/v1_{number}.md": NOTE for number in range(60)}
    manual = {f"docs/page{number}.md": "# Page\n\nText.\n" for number in range(70)}
    assert (
        found({**notes, **manual, "docs/settings.md": MANUAL + "It needs a disk. " * 20}, "option autosave")[0]
        == "settings.md"
    )
