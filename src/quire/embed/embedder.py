"""The protocol of an embedder, and how a text longer than its window becomes passages."""

from collections.abc import Callable, Sequence
from functools import cache, reduce
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from msgspec import structs

from quire.embed.embed_settings import EmbedSettings
from quire.embed.endpoint import LEAST_WINDOW, Endpoint
from quire.errors import EmbedderError, MissingExtraError, OptionError, invalid_value
from quire.model.options import DEFAULT_TOKENIZER
from quire.pipeline import chunk
from quire.tokens.tokenizers import resolve as counter_of

NAMES = ("wordllama",)  # the models that a package brings along
_METHODS = (  # how the models of other packages embed texts and queries
    ("embed_documents", "embed_query"),  # LangChain
    ("encode_document", "encode_query"),  # sentence-transformers
    ("encode", "encode"),  # model2vec, earlier sentence-transformers
    ("passage_embed", "query_embed"),  # fastembed
)
_NAMES = ("model_name", "model", "model_id", "base_model_name", "model_card_data.base_model", "name")  # of these
_CHOICE = (
    "under [embed] in your own quire.toml name an endpoint and its model, or as embedder a folder in the format of "
    "model2vec or wordllama; chunk and sync also take --endpoint, --model and --embedder, Python embedder="
)
_endpoint = cache(Endpoint)


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also have ``embed_query(text)``, the vector of a query, ``count(text)``, the tokens of a text as
    ``window`` counts them (by default those of ``o200k_base``), and ``batch``, how many texts to embed at a time.
    """

    name: str  # the model; vectors of different models are never mixed
    version: str  # the model's version; another version is another model

    @property
    def window(self) -> int:
        """How many tokens of a text the model reads; 0 for any number."""

    def embed(self, texts: Sequence[str]) -> Any:
        """An array with one row per text."""


class FunctionEmbedder:
    """An embedder made of any function from a list of texts to their vectors."""

    def __init__(self, function: Callable[..., Any], *, name: str = "", version: str = "", window: int = 0) -> None:
        self._function, self.version, self.window = function, version, window
        self.name = name or getattr(function, "__qualname__", type(function).__name__)

    def embed(self, texts: Sequence[str]) -> Any:
        """The function's result."""
        return self._function(list(texts))


class ModelEmbedder:
    """An embedder made of the model of another package, by the methods that it has."""

    def __init__(self, model: object, method: str, query_method: str) -> None:
        self._embed: Callable[[Any], Any] = getattr(model, method)
        self._embed_query: Callable[[Any], Any] = getattr(model, query_method, self._embed)
        self._takes_one = query_method == "embed_query" and self._embed_query != self._embed
        names = [reduce(lambda value, part: getattr(value, part, None), name.split("."), model) for name in _NAMES]
        self.name = next((name for name in names if isinstance(name, str) and name), type(model).__name__)
        self.version = ""
        window = getattr(model, "max_seq_length", None) or getattr(model, "max_length", None)
        self.window = window if isinstance(window, int) else 0
        tokenizer = getattr(model, "tokenizer", None)
        self.count = counter_of(tokenizer if hasattr(tokenizer, "encode") else None, DEFAULT_TOKENIZER).count

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One vector per text."""
        return list(self._embed(list(texts)))

    def embed_query(self, text: str) -> Any:
        """The vector of a query."""
        return self._embed_query(text) if self._takes_one else next(iter(self._embed_query([text])))


def resolve(embedder: object) -> Embedder:
    """The embedder of a name, a folder or settings, the embedder itself, or one made of a model or a function."""
    if isinstance(embedder, EmbedSettings):
        options = structs.asdict(embedder)
        name, url = options.pop("embedder"), options.pop("endpoint")
        return resolve(_endpoint(url, **options) if url else name)
    if embedder is None:
        raise OptionError("no embedding model is named", _CHOICE, option="embedder")
    if isinstance(embedder, Endpoint):  # its window is checked, or asked for only if it matters
        return embedder
    if isinstance(embedder, str):
        return _local(embedder)
    if not isinstance(embedder, Embedder):
        methods = [pair for pair in _METHODS if callable(getattr(embedder, pair[0], None))]
        if methods:
            embedder = ModelEmbedder(embedder, *methods[0])
        elif callable(embedder):
            embedder = FunctionEmbedder(embedder)
        else:
            rule = "it must be a name, a folder, a function, a model with encode or embed_documents, or an Embedder"
            raise invalid_value("embedder", embedder, rule)
    if 0 < embedder.window < LEAST_WINDOW:
        raise invalid_value("window", embedder.window, f"it must be 0, for no limit, or at least {LEAST_WINDOW}")
    return embedder


def _local(name: str) -> Embedder:
    folder = Path(name).expanduser()
    if name not in NAMES and not folder.is_dir():
        raise invalid_value("embedder", name, f"no such folder; {_CHOICE}")
    try:
        models = import_module("quire.embed.static_model")
        return cast("Embedder", models.load_wordllama() if name in NAMES else models.load_folder(folder))
    except ImportError as error:
        raise MissingExtraError(name if name in NAMES else "model2vec", error.name) from error


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> Any:
    """An array with one vector per text; an EmbedderError if the embedder returns something else. Needs NumPy."""
    try:
        np = import_module("numpy")
    except ImportError as error:
        raise MissingExtraError("vectors", error.name) from error
    vectors = np.asarray(embedder.embed(texts), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size or not np.isfinite(vectors).all():
        problem = f"{embedder.name}: {len(texts)} texts gave an array of shape {vectors.shape}"
        raise EmbedderError(problem, "an embedder must return one vector of finite numbers per text")
    return vectors


def passages(text: str, embedder: Embedder) -> list[str]:
    """The text, or its parts if it is longer than the embedder's window. They are in order, and none is too long."""
    window = embedder.window
    if not window or len(text.encode("utf-8", "replace")) <= window:  # a token has at least one byte
        return [text]
    count = getattr(embedder, "count", None) or counter_of(None, DEFAULT_TOKENIZER).count
    if count(text) <= window:
        return [text]
    sizes: Any = {"target_tokens": window, "max_tokens": window, "min_tokens": 0}
    chunks = chunk(text, path="", title="", syntax="text", tokenizer=count, breadcrumb_mode="none", **sizes)
    spans = [piece.source_position for piece in chunks]
    return [text[span.char_start : span.char_end] for span in spans] or [text]


def mean_vectors(texts: Sequence[str], embedder: Embedder) -> list[Any]:
    """One vector per text: of a text longer than the embedder's window, the mean of the vectors of its passages."""
    parts = [passages(text, embedder) for text in texts]
    unique = list(dict.fromkeys(chain.from_iterable(parts)))  # equal texts are embedded once
    vector_of = dict(zip(unique, embedder.embed(unique) if unique else (), strict=True))
    return [_mean([vector_of[passage] for passage in some]) for some in parts]


def _mean(vectors: list[Any]) -> Any:
    return vectors[0] if len(vectors) == 1 else [sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True)]
