"""Addresses of published pages, and the lists of them that agents look for."""

from __future__ import annotations

import pytest

import quire
from quire.model.page_urls import page_url
from quire.output.llms_txt import PublishedPage, llms_full_txt, llms_txt


@pytest.mark.parametrize(
    ("dialect", "path", "front", "url"),
    [
        (None, "a b/README.md", "", "a%20b/"),
        ("github", "a/b.md", "slug: x", "a/b.md"),
        ("mkdocs", "a/b.md", "", "a/b/"),
        ("mkdocs", "a/README.md", "", "a/"),
        ("mkdocs", "index.md", "", "/"),
        ("hugo", "Docs/_index.md", "", "docs/"),
        ("hugo", "Docs/Setup.md", "", "docs/setup/"),
        ("hugo", "docs/a.md", "slug: b", "docs/b/"),
        ("hugo", "docs/a.md", "url: /x/y/", "x/y/"),
        ("docusaurus", "01-intro/02-start.md", "", "intro/start"),
        ("docusaurus", "a/b.mdx", "id: c", "a/c"),
        ("docusaurus", "a/b.mdx", "slug: /c", "c"),
        ("vitepress", "a/b.md", "", "a/b.html"),
        ("vitepress", "a/index.md", "", "a/"),
        ("myst", "a/b.md", "", "a/b.html"),
        ("jekyll", "a/b.md", "permalink: /:title/", "a/b.html"),
        ("gitbook", "a/README.md", "", "a/"),
    ],
)
def test_addresses_follow_the_generator(dialect, path, front, url) -> None:
    document = quire.parse(f"---\n{front}\n---\n# T\n", path=path)
    assert page_url("", path, dialect, document.frontmatter) == url.removeprefix("/")


def pages() -> list[PublishedPage]:
    texts = {
        "index.md": "---\ndescription: All about\n  it.\n---\n# Site\n\nHello.\n",
        "guide/a.md": "# A [b]\n\nText.\n",
        "guide/c.md": "---\ntitle: C\n---\nNo heading.\n",
    }
    return [PublishedPage(quire.parse(text, path=path), "docs", f"https://x/{path}") for path, text in texts.items()]


def test_the_list_is_grouped_by_folder() -> None:
    assert llms_txt("docs", pages()) == (
        "# Site\n\n> All about it.\n\n"
        "## docs\n\n- [Site](https://x/index.md): All about it.\n\n"
        "## guide\n\n- [A \\[b\\]](https://x/guide/a.md)\n- [C](https://x/guide/c.md)\n"
    )
    assert llms_txt("docs", pages()[1:]).startswith("# docs\n\n## guide\n")


def test_the_full_texts_have_their_titles_once_and_no_front_matter() -> None:
    assert "".join(llms_full_txt(pages()[::2])) == (
        "# Site\n\nSource: https://x/index.md\n\nHello.\n\n# C\n\nSource: https://x/guide/c.md\n\nNo heading.\n\n"
    )
