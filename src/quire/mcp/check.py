"""The tool ``check``: whether quotations are in the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from quire.mcp.answers import Answer, Service, Tool

if TYPE_CHECKING:
    from quire.search.cite import Citation

_SHOWN = 60  # characters of a quotation in an answer


class Check(Tool, frozen=True):
    """Check quotations against their sources."""

    title: ClassVar = "Check quotations"
    text: Annotated[str, Meta(min_length=1, description='"quote" [id] …')]

    def answer(self, service: Service) -> Answer:
        """The status of each quotation, and its place or what differs."""
        from quire.search.cite import check_quotations  # noqa: PLC0415  few sessions need it

        workspace = service.workspace
        found = check_quotations(self.text, workspace.index, workspace.section_id, workspace.documents(), history=False)
        count = sum(citation.status == "found" for citation in found)
        rows = [_row(citation) for citation in found]
        lines = [" | ".join(", ".join(v) if isinstance(v, list) else v for v in row.values()) for row in rows]

        def answer(end: int) -> Answer:
            rest = f"; {len(rows) - end} more: check fewer at once" if end < len(rows) else ""
            text = "\n".join([*lines[:end], f"[{count} of {len(rows)} found{rest}]"])
            return Answer(text, {"quotations": rows[:end], "found": count, "total": len(rows)})

        return answer(service.limit().longest(range(len(rows) + 1), answer))


def _row(citation: Citation) -> dict[str, Any]:
    places = [f"{place.tree}:{place.path}:{place.lines[0]}-{place.lines[1]}" for place in citation.places]
    row = {"status": citation.status, "quote": citation.quote[:_SHOWN], "places": places}
    return {name: value for name, value in (row | {"difference": citation.difference}).items() if value}
