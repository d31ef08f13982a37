"""What the tests share: random Markdown, an independent judge of headings, and the data kept beside the repository."""

from quire import Chunk


def own_text(chunk: Chunk) -> str:
    """The text of a chunk without the sentences that repeat the chunk before."""
    return chunk.original_text[chunk.overlap_chars :]
