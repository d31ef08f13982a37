"""``quire llms-txt``: write llms.txt or llms-full.txt, which agents look for on a site."""

from quire import pipeline
from quire.cli.command_options import argument, option, quire_command, refuse
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.input_documents import STANDARD_INPUT
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions
from quire.cli.output import echo, message
from quire.model.dialects import dialect_of
from quire.model.page_urls import page_url
from quire.output.llms_txt import PublishedPage, llms_full_txt, llms_txt
from quire.workspace.selected_trees import exists, is_file


@quire_command("quire llms-txt docs --base-url https://example.com/docs > llms.txt", "quire llms-txt docs --full")
def command(
    *,
    name: str | None = argument("[PATH|TREE]", required=False),
    base_url: str = option("The address of the published pages.", "URL", default=""),
    full: bool = option("Write llms-full.txt: the texts of the pages, too."),
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """PATH is a folder; by default quire lists all trees of quire.toml, else the current folder. Addresses follow the
    rules of the documentation generator, by its files beside or above the documents or by `dialect` in quire.toml.
    """
    name = name or ""
    refuse(name == STANDARD_INPUT or is_file(name), "llms.txt lists documents; name a folder or a tree")
    with index.open([name] if exists(name) else []) as workspace:
        records = workspace.documents("" if exists(name) else name)
        configured = workspace.settings.tree_options
        dialects = {tree: configured(tree).dialect or dialect_of(folder) for tree, folder in workspace.folders.items()}
        pages = []
        for record in records:
            document = pipeline.parse(workspace.get(record.id).text, path=record.path)
            dialect = dialects[record.tree] or (None if base_url else "github")
            url = page_url(base_url, record.path, dialect, document.frontmatter)
            pages.append(PublishedPage(document, record.tree, url))
    if not pages:
        message(f"{name or '.'}: no document matches")
        return NOTHING_FOUND
    for text in llms_full_txt(pages) if full else [llms_txt(pages[0].tree, pages)]:
        echo(text.removesuffix("\n"), wraps=False)
    return 0
