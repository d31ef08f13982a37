"""Chunks to JSON and back.

chunk_json.py    the chunk record: encode, decode, its JSON Schema
record_forms.py  the compact record, the flat record and the node record
legacy.py        the old format, in both directions
"""

from quire.wire.chunk_json import VERSION, decode, encode, schema, to_json
from quire.wire.legacy import guessed, legacy, migrate
from quire.wire.record_forms import FORMS, Form, compact, flat, node, nodes, records

__all__ = ["FORMS", "VERSION", "Form", "compact", "decode", "encode", "flat", "guessed", "legacy", "migrate", "node"]
__all__ += ["nodes", "records", "schema", "to_json"]
