"""The chunks of a document as coloured bands, which Jupyter shows."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.model.chunk_record import Chunk

_HUE_STEP = 137  # degrees between the colours of neighbouring bands


def band(chunk: "Chunk") -> str:
    """A chunk as HTML."""
    hue, texts = chunk.chunk_number * _HUE_STEP % 360, (chunk.id, chunk.header_breadcrumb, chunk.original_text)
    name, headings, text = (text.replace("&", "&amp;").replace("<", "&lt;") for text in texts)
    return (
        f'<div style="border-left:6px solid hsl({hue},60%,60%);padding:0 8px;margin:4px 0">'
        f"<small>{name} · {headings} · {chunk.token_stats.tokens} tokens</small>"
        f'<div style="white-space:pre-wrap">{text}</div></div>'
    )
