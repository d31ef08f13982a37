"""The settings of an embedding model: ``[embed]`` in the user's own quire.toml, and the options of commands."""

from typing import Annotated

from msgspec import Meta, Struct

from quire.model.validation import NO_LIMIT, about

Header = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9-]+: *[^\s\r\n][^\r\n]*$", extra={"rule": "a text such as 'api-key: $AZURE_KEY'"})
]
Count = Annotated[int, Meta(ge=0, le=NO_LIMIT)]
_WINDOW = "how many tokens of a text the model reads; 0: no limit; by default, as the endpoint says"


class EmbedSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A local model, or one behind an endpoint; all but the first are about endpoints."""

    embedder: Annotated[str | None, about("a local model: wordllama, or a folder in the format of model2vec")] = None
    endpoint: Annotated[str, about("the address of an OpenAI-compatible endpoint")] = ""
    model: Annotated[str, about("the endpoint's model")] = ""
    version: Annotated[str, about("the model's version; change it to embed everything again")] = ""
    window: Annotated[Count | None, about(_WINDOW)] = None
    dimensions: Annotated[Count, about("how many numbers a vector has; 0: as many as the model makes")] = 0
    requests_per_minute: Annotated[float, about("the endpoint's limit per minute; 0: none", ge=0, le=NO_LIMIT)] = 0
    requests_at_once: Annotated[int, about("how many requests may wait for an answer", ge=1, le=64)] = 4
    batch: Annotated[int, about("the most texts of a request", ge=1, le=NO_LIMIT)] = 128
    batch_tokens: Annotated[int, about("the most tokens of a request", ge=1, le=NO_LIMIT)] = 300_000
    time_limit: Annotated[float, about("seconds for a request with all its repetitions", ge=0, le=NO_LIMIT)] = 300
    query_prefix: Annotated[str, about("a text that the model wants before a query")] = ""
    passage_prefix: Annotated[str, about("a text that the model wants before a passage")] = ""
    headers: Annotated[tuple[Header, ...], about("more headers; $NAME is the value of an environment variable")] = ()
