"""How a report is told to people."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.example import Example
from ubp.model import FilePath, ReferenceVerdict
from ubp.render.ansi import Style
from ubp.render.wording import shell_word
from ubp.staleness.report import SourceDiff


class Telling(NamedTuple):
    """What is told, and where it is read.

    `every`: fresh pages and old debts too. `quiet`: a line a finding, nothing else. `prefix`: the
    folder, from the root, where commands are typed. `base`: the revision that a branch is compared
    with. `keys`: the front matter keys that were named on the command line. `diffs`: what changed
    in a reference's source. `key` and `example`: what to write where no page names a source.
    """

    style: Style
    every: bool = False
    quiet: bool = False
    prefix: FilePath = FilePath("")
    base: str | None = None
    keys: tuple[str, ...] = ()
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}
    key: str = "source_refs"
    example: Example | None = None

    def command(self, *words: str) -> str:
        """A command to type, with the keys that this one was given."""
        keys = [word for key in self.keys for word in ("--key", shell_word(key))]
        return self.style.cyan(" ".join(["ubp", *words, *keys]))
