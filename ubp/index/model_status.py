"""The model that embeds sections, as `ubp status` and `ubp model` show it.

`ubp stale --json` imports the value that is defined here, so that the rest is imported where it is
used.
"""

from typing import NamedTuple

from ubp.core.errors import ModelError
from ubp.index.session import Session
from ubp.index.view import View


class ModelStatus(NamedTuple):
    """The model in use, and how many sections have no vectors of it yet.

    Without a model everything but `sections` is None, and `why_none` is the reason. Of a server's
    model `host` is known and `directory` is None, before its first vectors `dimensions`, too.
    """

    name: str | None
    directory: str | None
    dimensions: int | None
    fingerprint: str | None
    sections: int
    pending: int | None
    why_none: str = ""
    host: str | None = None


def model_status(session: Session, view: View) -> ModelStatus:
    """Return the model in use, and how much is embedded; nothing is loaded."""
    from ubp.index.embed.known import read_known
    from ubp.index.embed.locate import EXTRA, EndpointPlace, has_extra
    from ubp.index.embed.model_files import dimensions
    from ubp.index.embedded import fingerprint_of

    try:
        place = session.model_place()
        if place is not None:
            digest = fingerprint_of(session.store.database, place)
            if isinstance(place, EndpointPlace):
                known = read_known(place, session.repository.data_dir)
                size, folder, host = known and known.dimensions, None, place.host
            else:
                size, folder, host = dimensions(place), place.directory, None
            counts = view.count_embedded(digest, size or 0)
            return ModelStatus(place.name, folder, size, digest.hex(), *counts, host=host)
    except ModelError as error:
        why = error.message
    else:
        from ubp.core.installation import install_command  # it takes 15 ms to import

        why = (
            'search.model is "none"' if has_extra() else f"not installed ({install_command(EXTRA)})"
        )
    sections, _ = view.count_embedded(b"", 0)
    return ModelStatus(None, None, None, None, sections, None, why)
