"""Source to Document: the stage that knows Markdown. docs/architecture.md tells its steps, and what is where."""

from quire.parsing.blocks import document
from quire.parsing.nested_blocks import directive_content, inner_blocks, item_content, list_items

__all__ = ["directive_content", "document", "inner_blocks", "item_content", "list_items"]
