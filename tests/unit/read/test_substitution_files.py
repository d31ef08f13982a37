"""The files of generators that have template variables are found beside and above the documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.read.substitution_files import substitution_files, tree_substitutions

MKDOCS = """\
site_name: The Site
extra:
  version: 3.x
  social: [a]
  product: {name: Thing}
markdown_extensions:
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
"""


def put(top: Path, **files: str) -> Path:
    for name, text in files.items():
        file = top / name.replace("__", "/").replace("_yml", ".yml").replace("_toml", ".toml").replace("_yaml", ".yaml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return top


@pytest.mark.parametrize(
    ("files", "text", "title"),
    [
        ({"docset_yml": "project: x\nsubs:\n  es: Elasticsearch\n"}, "{{es}}", "Elasticsearch"),
        ({"mkdocs_yml": MKDOCS}, "{{ config.site_name }} {{ version }} {{ product.name }}", "The Site 3.x Thing"),
        ({"myst_yml": "version: 1\nproject:\n  substitutions:\n    key: I'm a **sub**\n"}, "{{ key }}", "I'm a sub"),
        ({"myst_yml": "---\nsubstitutions:\n  key: top\n"}, "{{key}}", "top"),
        (
            {"hugo_toml": '[params]\nversion = "1.2"\n[params.a]\nb = 2\n'},
            '{{< param "version" >}} {{< param a.b >}}',
            "1.2 2",
        ),
        ({"hugo_yaml": "params:\n  version: v4\n"}, '{{% param "version" %}}', "v4"),
        ({"config___default__params_toml": 'version = "9"\n'}, "{{< param version >}}", "9"),
        ({"data__variables__product_yml": "vscode: 'VS Code'\n"}, "{% data variables.product.vscode %}", "VS Code"),
        ({"_data__variables__product_yml": "a: {b: C}\n"}, "{% data variables.product.a.b %}", "C"),
        ({"_config_yml": "title: Blog\n"}, "{{ site.title }}", "Blog"),
        ({"docset_yml": "subs:\n  a: '{{b}} x'\n  b: B\n"}, "{{a}}", "B x"),
        ({"docset_yml": "subs: [broken\n"}, "{{es}}", "es"),
        ({"conf.py": "myst_substitutions = {'key': 'value'}\n"}, "{{key}}", "key"),
    ],
)
def test_each_generator_has_its_file(tmp_path: Path, files: dict[str, str], text: str, title: str) -> None:
    put(tmp_path, **files)
    (tmp_path / "docs" / "a").mkdir(parents=True)
    (tmp_path / "docs" / "a" / "page.md").write_text(f"# {text}\n\ntext\n", "utf-8")
    [[chunk]] = quire.chunk_dir(tmp_path / "docs")
    assert chunk.section_title == title


def test_the_nearest_file_and_what_is_given_come_first(tmp_path: Path) -> None:
    put(tmp_path, docset_yml="subs: {a: far, b: far, c: far}\n", docs__docset_yml="subs: {b: near, c: near}\n")
    assert tree_substitutions(substitution_files(tmp_path / "docs"), {"c": 1}) == {"a": "far", "b": "near", "c": "1"}
    (tmp_path / "docs" / ".git").mkdir()
    assert tree_substitutions(substitution_files(tmp_path / "docs")) == {"b": "near", "c": "near"}
