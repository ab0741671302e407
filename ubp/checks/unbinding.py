"""What the rule unbound-page reports: apart from how it is found, which few commands need."""

from typing import Literal, NamedTuple

from ubp.core.model import FilePath

Loss = Literal["reference", "pin", "unknown_pin", "no_page", "record"]


class Unbinding(NamedTuple):
    """A reference, a pin or a page that a change no longer has.

    `page` is where the page is now, `origin` where it was. `sources` are what is no longer
    verified: one source as the page named it, or all that are left of a page that is none any more
    (`no_page`, or a `record` of the past). `line` is that of the pin's reference, None elsewhere.
    `moved_to` is the new path of a source that the change moved. `is_translation`: the source is
    the original of a translation.
    """

    loss: Loss
    page: FilePath
    origin: FilePath
    sources: tuple[FilePath, ...]
    line: int | None = None
    pin: str = ""
    moved_to: FilePath | None = None
    is_translation: bool = False
