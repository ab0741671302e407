"""The embedding model of a hub, loaded when it is first needed."""

from ubp.core.errors import UbpError
from ubp.index.embed.locate import find_model, has_extra
from ubp.index.embed.protocol import EmbeddingModel


def bundled_model() -> EmbeddingModel | None:
    """Return the bundled model; None: the libraries that run it are not installed."""
    if not has_extra():
        return None
    from ubp.index.embed.model import load_model

    try:
        return load_model(find_model(None, {}))
    except UbpError:
        return None  # a search finds words and links without it
