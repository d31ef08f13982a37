"""Which file endings are those of documents, and which of Markdown."""

from quire.model.page_markers import NOTEBOOK

MARKDOWN_EXTENSIONS = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd", ".rmd", NOTEBOOK})
"""The endings of Markdown files, in lower case."""
EXTENSIONS = (*MARKDOWN_EXTENSIONS, ".txt")  # of file names, in lower case, that are taken from a directory


def has_extension(name: str) -> bool:
    """Whether a file name is that of a document."""
    return name.lower().endswith(EXTENSIONS) and name.rfind(".") > 0
