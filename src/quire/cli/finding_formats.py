"""``--format`` of ``links`` and ``verify``: findings as JSON, as annotations of a GitHub workflow, or as SARIF."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from msgspec.structs import asdict

from quire import ISSUES, __version__
from quire.cli.command_options import option
from quire.cli.output import Paint, echo, finding_line, write_json
from quire.model.document import Finding

Form = Literal["text", "json", "github", "sarif"]
_MEANING = "github: annotations of a workflow; sarif: for code scanning; json: as --json."
FORMAT = option(_MEANING, "--format", default="text", show_default=True)
_ESCAPED = {ord(char): f"%{ord(char):02X}" for char in "%\r\n:,"}  # a message may have the last two


def _annotation(finding: Finding) -> str:
    file = finding.path.translate(_ESCAPED)
    text = finding.message.translate({code: _ESCAPED[code] for code in map(ord, "%\r\n")})
    return f"::error file={file},line={finding.line or 1},title={finding.code}::{text}"


def _sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    results = []
    for finding in findings:
        uri = quote(finding.path.replace("\\", "/").removeprefix("./"))
        location = {"artifactLocation": {"uri": uri}, "region": {"startLine": finding.line or 1}}
        record = {"ruleId": finding.code, "level": "error", "message": {"text": finding.message}}
        results.append({**record, "locations": [{"physicalLocation": location}]})
    rules = [{"id": code} for code in dict.fromkeys(finding.code for finding in findings)]
    about = {"name": "quire", "version": __version__, "informationUri": ISSUES.removesuffix("/issues")}
    run = {"tool": {"driver": {**about, "rules": rules}}, "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def write_findings(findings: Sequence[Finding], form: Form, records: Sequence[Any] | None = None) -> None:
    """Print findings to standard output; ``records`` are what the JSON has instead of them."""
    if form == "json":
        write_json(list(map(asdict, findings)) if records is None else records)
    elif form == "sarif":
        write_json(_sarif(findings))
    else:
        line = _annotation if form == "github" else partial(finding_line, paint=Paint(sys.stdout))
        for finding in findings:
            echo(line(finding), wraps=form == "text")
