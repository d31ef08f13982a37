"""The settings of an embedding model: ``[embed]`` in the user's own quire.toml, and the options of commands."""

from typing import Annotated

from msgspec import Meta, Struct

from quire.model.validation import NO_LIMIT

Header = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9-]+: *[^\s\r\n][^\r\n]*$", extra={"rule": "a text such as 'api-key: $AZURE_KEY'"})
]


class EmbedSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A local model, or one behind an endpoint; all but the first are about endpoints."""

    embedder: Annotated[
        str | None, Meta(description="a local model: wordllama, or a folder in the format of model2vec")
    ] = None
    endpoint: Annotated[str, Meta(description="the address of an OpenAI-compatible endpoint")] = ""
    model: Annotated[str, Meta(description="the endpoint's model")] = ""
    version: Annotated[str, Meta(description="the model's version; change it to embed everything again")] = ""
    window: Annotated[
        Annotated[int, Meta(ge=0, le=NO_LIMIT)] | None,
        Meta(description="how many tokens of a text the model reads; 0: no limit; by default, as the endpoint says"),
    ] = None
    dimensions: Annotated[
        int, Meta(ge=0, le=NO_LIMIT, description="how many numbers a vector has; 0: as many as the model makes")
    ] = 0
    requests_per_minute: Annotated[
        float, Meta(ge=0, le=NO_LIMIT, description="the endpoint's limit of requests per minute; 0: none")
    ] = 0
    requests_at_once: Annotated[int, Meta(ge=1, le=64, description="how many requests may wait for an answer")] = 4
    batch: Annotated[int, Meta(ge=1, le=NO_LIMIT, description="the most texts of a request")] = 128
    batch_tokens: Annotated[int, Meta(ge=1, le=NO_LIMIT, description="the most tokens of a request")] = 300_000
    time_limit: Annotated[
        float, Meta(ge=0, le=NO_LIMIT, description="seconds for a request with all its repetitions")
    ] = 300
    query_prefix: Annotated[str, Meta(description="a text that the model wants before a query")] = ""
    passage_prefix: Annotated[str, Meta(description="a text that the model wants before a passage")] = ""
    headers: Annotated[
        tuple[Header, ...], Meta(description="more headers; $NAME is the value of an environment variable")
    ] = ()
