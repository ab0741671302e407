"""Types of parameters that several commands share, with the value names that help shows.

Not for `ubp.cli.stale`, which a hook loads: cyclopts takes 85 ms to import.
"""

from typing import Annotated

from cyclopts import Parameter

from ubp.core.model import LinkType

Revision = Annotated[str | None, Parameter(metavar="REV")]
Keys = Annotated[list[str] | None, Parameter(metavar="NAME")]
DocTypes = Annotated[list[str] | None, Parameter(metavar="TYPE")]
Tags = Annotated[list[str] | None, Parameter(metavar="TAG")]
LinkTypes = Annotated[list[LinkType] | None, Parameter(metavar="TYPE")]
Number = Annotated[int, Parameter(metavar="N")]
OptionalNumber = Annotated[int | None, Parameter(metavar="N")]
OptionalDecimal = Annotated[float | None, Parameter(metavar="N")]
OutputFiles = Annotated[list[str] | None, Parameter(metavar="FORMAT=PATH")]
FORMAT = Parameter(metavar="FORMAT")
LEVEL = Parameter(metavar="LEVEL")
