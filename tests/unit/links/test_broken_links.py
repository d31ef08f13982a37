"""Where links lead in a tree of documents, and which are broken."""

from __future__ import annotations

import pytest

import quire
from quire.links.broken_links import LinkTargets, Target

TREE = {
    "index.md": "# Home\n\ntext\n",
    "guide/README.md": "# Guide\n\ntext\n",
    "guide/auth.md": "# Auth\n\na\n\n## OAuth 2.0 {#oauth}\n\nb\n\n- ### In a list\n\n<b id='here'>c</b>\n\n## Q: A_b?\n\nd\n",
    "guide/setup.md": "---\nslug: install\naliases: [/old/setup/]\n---\n# Setup\n\ntext\n",
    "ref/01-cli.mdx": "# Command line\n\ntext\n",
    "ref/cli_options.md": "---\nurl: /options.html\n---\n# Options\n\ntext\n",
}


def resolved(tree: dict[str, str], path: str, link: str, **options) -> Target:
    """Where a link in the document ``path`` leads."""
    documents = {name: quire.parse(text, path=name) for name, text in tree.items()}
    documents[path] = quire.parse(f"{tree.get(path, '')}\n{link}\n", path=path)
    targets = LinkTargets(documents, **options)
    return targets.resolve(path, targets.links[path][-1])


@pytest.mark.parametrize(
    ("path", "target", "found"),
    [
        ("index.md", "guide/auth.md#oauth", ("guide/auth.md", "OAuth 2.0")),
        ("index.md", "guide/auth#oauth-20", ("guide/auth.md", "OAuth 2.0")),
        ("index.md", "guide/auth.html?x=1#q-a-b", ("guide/auth.md", "Q: A_b?")),
        ("index.md", "guide/auth.md#q-a_b", ("guide/auth.md", "Q: A_b?")),
        ("index.md", "guide/auth.md#in-a-list", ("guide/auth.md", "OAuth 2.0")),
        ("index.md", "guide/auth.md#here", ("guide/auth.md", "OAuth 2.0")),
        ("index.md", "guide/auth%2Emd#%6Fauth", ("guide/auth.md", "OAuth 2.0")),
        ("guide/auth.md", "#auth", ("guide/auth.md", "Auth")),
        ("guide/auth.md", "#top", ("guide/auth.md", "Auth")),
        ("guide/auth.md", "./", ("guide/README.md", "Guide")),
        ("guide/auth.md", "setup.md", ("guide/setup.md", "Setup")),
        ("guide/auth.md", "./install", ("guide/setup.md", "Setup")),
        ("guide/auth.md", "../setup/", ("guide/setup.md", "Setup")),
        ("guide/auth.md", "../ref/cli", ("ref/01-cli.mdx", "Command line")),
        ("guide/auth.md", "../../ref/cli/", ("ref/01-cli.mdx", "Command line")),
        ("guide/auth.md", "..", ("index.md", "Home")),
        ("guide/auth.md", "/guide/setup/", ("guide/setup.md", "Setup")),
        ("guide/auth.md", "/old/setup", ("guide/setup.md", "Setup")),
        ("guide/auth.md", "/options.html", ("ref/cli_options.md", "Options")),
        ("guide/auth.md", "/docs/guide/setup/#setup", ("guide/setup.md", "Setup")),
        ("guide/auth.md", "/auth/#oauth", ("guide/auth.md", "OAuth 2.0")),
    ],
)
def test_found(path: str, target: str, found: tuple[str, str]) -> None:
    where = resolved(TREE, path, f"[x]({target})")
    document = quire.parse(TREE[where.path], path=where.path)
    titles = [section.title for section in document.sections]
    assert (where.path, titles[where.section]) == found
    assert where.problem == ""


@pytest.mark.parametrize(
    ("path", "link", "problem", "nearest"),
    [
        ("index.md", "[x](guide/oauth.md)", "no document guide/oauth.md", "guide/auth.md"),
        ("index.md", "[x](setup.md)", "no document setup.md", "guide/setup.md"),
        ("guide/auth.md", "[x](./gone)", "no document ./gone", ""),
        ("guide/auth.md", "[x](/guide/setups/)", "no document /guide/setups/", "guide/setup.md"),
        ("guide/auth.md", "[x](#oaut)", "no section #oaut", "#oauth"),
        ("index.md", "[x][r]\n\n[r]: guide/auth.md#OAuth", "no section #OAuth in guide/auth.md", "#oauth"),
        (
            "index.md",
            "[x](guide/auth.md#options)",
            "no section #options in guide/auth.md",
            "ref/cli_options.md#options",
        ),
    ],
)
def test_broken(path: str, link: str, problem: str, nearest: str) -> None:
    tree = {name: text for name, text in TREE.items() if not name.endswith("x")}  # MDX sites find pages from the root
    where = resolved(tree, path, link)
    assert (where.problem, where.nearest) == (problem, nearest)


@pytest.mark.parametrize(
    "target",
    [
        "https://a.example/x.md", "//a.example/x", "mailto:a@b.c", "image.png", "../data/x.yaml", "../../README.md", "@site/x.md",
        "/blog/post/", "/showcase", "/docs/showcase", "elsewhere/page/", "{{site.url}}/x", "ENGLISH_URL", "",
    ],
)  # fmt: skip
def test_not_judged(target: str) -> None:
    where = resolved(TREE, "guide/auth.md", f"[x]({target})")
    assert where.problem == ""


def test_a_file_that_is_not_in_the_tree() -> None:
    assert resolved(TREE, "guide/auth.md", "[x](draft.md)", exists=lambda path: path == "guide/draft.md") == Target()


def test_wiki_links_are_by_file_name() -> None:
    tree = {"a/My Page.md": "# Top\n\n## A part\n\ntext\n", "b/Other-Page.md": "[[My Page]]\n", "c.md": ""}
    assert resolved(tree, "c.md", "[[My Page#A part|text]]")[:2] == ("a/My Page.md", 2)
    assert resolved(tree, "c.md", "[[other page]]").path == "b/Other-Page.md"
    assert resolved(tree, "c.md", "[[My Pag]]")[2:] == ("no document My Pag", "a/My Page.md")
    assert resolved({"c.md": ""}, "c.md", "[[tool.quire]]") == Target()


@pytest.mark.parametrize("target", ["label", "#label", "#figure", "package.Class", "#package.Class"])
def test_names_that_myst_looks_up_in_every_document_are_not_judged(target: str) -> None:
    tree = {"a.md": "# A\n\nx\n", "sub/b.md": "(label)=\n# B\n\n:::{figure} x.png\n:name: figure\n:::\n"}
    assert resolved(tree, "a.md", f"[x]({target})").problem == ""
    assert resolved(tree, "a.md", "[x](#a)") == Target("a.md", 1)
    assert resolved(tree, "a.md", "[x](gone.md)").problem == "no document gone.md"
    assert resolved(tree, "a.md", "[x](sub/b.md#gone)").problem == "no section #gone in sub/b.md"


def test_references_of_hugo_are_by_file_name() -> None:
    tree = {"_index.md": "x\n", "docs/_index.md": "x\n", "docs/a/page.md": "# P\n\nx\n"}
    assert resolved(tree, "docs/_index.md", '[x]({{< ref "page.md#p" >}})')[:2] == ("docs/a/page.md", 1)
    assert resolved(tree, "docs/_index.md", '[x]({{< ref "page.md#q" >}})').problem == "no section #q in docs/a/page.md"


@pytest.mark.parametrize(
    "page",
    [
        "<Generated />\n",
        "# A\n\n{{% include other.md %}}\n",
        "# A\n\n--8<-- 'x.md'\n",
        "# A\n\n::: package.module\n",
        "# A\n\n```{automodule} package\n```\n",
        "# A\n\n<!-- md:option gone -->\n",
        "# A\n\n| `gone` | x |\n",
        '# A\n\n{{< tabs name="gone" >}}\n',
    ],
)
def test_anchors_that_a_generator_makes_are_not_broken(page: str) -> None:
    assert resolved({"a.mdx": page, "b.md": ""}, "b.md", "[x](a.mdx#gone)").problem == ""


def test_a_list_of_pages_has_an_anchor_for_each() -> None:
    tree = {"terms/_index.md": "# Terms\n\nx\n", "terms/pod.md": "x\n", "b.md": ""}
    assert resolved(tree, "b.md", "[x](terms/#term-pod)").problem == ""
    assert resolved(tree, "b.md", "[x](terms/#term-pot)").problem == "no section #term-pot in terms/_index.md"


def test_headings_that_a_shortcode_writes() -> None:
    page = '# A\n\n## {{% heading "whatsnext" %}}\n\nx\n'
    tree = {"a.md": page, "b.md": page, "c.md": "[x](a.md#what-s-next) [x](a.md#other)\n"}
    assert resolved(tree, "c.md", "[x](b.md#what-s-next)").problem == ""
    assert resolved(tree, "c.md", "[x](b.md#wrong)").problem == "no section #wrong in b.md"


def test_pages_that_are_mounted_from_elsewhere_are_not_broken() -> None:
    tree = {f"{number}.md": "[a](a.md) [b](b.md) [c](c.md)\n" for number in range(8)} | {"_index.md": "x\n"}
    assert resolved(tree, "_index.md", "[x](d.md)") == Target()
    assert resolved({**tree, "c.md": ""}, "_index.md", "[x](d.md)").problem == "no document d.md"


SITES = {
    "MDN": {"files/en-us/web/api/node/index.md": "---\nslug: Web/API/Node\n---\n", "link": "/en-US/docs/Web/API/Node"},
    "two prefixes": {"files/en-us/web/api/node/index.md": "", "link": "/en-US/docs/Web/API/Node"},
    "a part of a site": {"concepts/pods.md": "", "link": "/docs/concepts/pods/"},
    "a repository": {"content/en/docs/pods.md": "", "link": "/docs/pods/"},
    "Jekyll": {"_posts/2020-01-01-pods.md": "---\npermalink: /blog/pods/\n---\n", "link": "/blog/pods/"},
    "Docusaurus": {"docs/02-Guides/03-Pods.mdx": "---\nslug: /pods\n---\n", "link": "/pods"},
    "Hugo": {"content/_index.md": "", "content/pods.md": "---\nurl: shop/pods.html\n---\n", "link": "/shop/pods.html"},
    "aliases": {"new/pods.md": "---\naliases: [/Old/Pods.html]\n---\n", "link": "/old/pods"},
}


@pytest.mark.parametrize("site", SITES)
def test_links_of_sites_resolve(site: str) -> None:
    *pages, link = SITES[site].items()
    tree = {path: f"{front}# Pods\n\ntext\n" for path, front in pages}
    assert resolved(tree, "other/page.md", f"[x]({link[1]})").path == pages[-1][0]


def test_a_namesake_in_another_folder_is_no_target() -> None:
    tree = {"guides/setup.md": "# Setup\n\ntext\n", "guides/index.md": "[x](/docs/guides/setup/)\n"}
    assert resolved(tree, "guides/page.md", "[x](/api/setup/)") == Target()


@pytest.mark.parametrize(
    ("fragment", "is_broken"),
    [
        ("use-vs-code-now", False),
        ("use-prodname_vscode-now", False),
        ("multicursor-modifier", False),
        ("_multicursor-modifier", False),
        ("multi-cursor-modifier", False),
        ("use-it", True),
        ("now", True),
    ],
)
def test_anchors_of_headings_with_variables_and_those_of_vs_code(fragment: str, is_broken: bool) -> None:
    page = "# Page\n\n## Use {% data variables.product.prodname_vscode %} now\n\nx\n\n## Multi-cursor modifier\n\ny\n"
    assert bool(resolved({"page.md": page}, "a.md", f"[x](page.md#{fragment})").problem) == is_broken


def test_a_page_is_not_looked_at_again_for_each_broken_link() -> None:
    class Counted(dict[str, quire.Document]):
        listed = 0

        def items(self):
            self.listed += 1
            return super().items()

    def listed(links: int) -> int:
        text = "# Page\n\n## Section\n\n" + " ".join(f"[x](#missing-{number})" for number in range(links))
        documents = Counted({"page.md": quire.parse(text, path="page.md")})
        assert len(list(LinkTargets(documents).broken())) == links
        return documents.listed

    assert listed(30) == listed(3)
