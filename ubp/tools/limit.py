"""How large an answer may be, and how it is made to fit."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ubp.render.records import to_json
from ubp.tokens import estimate_tokens


class Limit(NamedTuple):
    """At most so much, as `measure` counts a text; a record counts as the JSON that it becomes."""

    most: int
    measure: Callable[[str], int] = estimate_tokens

    def weigh(self, part: Any) -> int:
        """How much a record, or a part of one, takes."""
        return self.measure(to_json({"": part}))

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Whether a record fits."""
        return self.measure(to_json(record)) <= self.most

    def drop(self, record: Mapping[str, Any], parts: Iterator[Any]) -> bool:
        """Let parts be taken out until the record fits, and tell whether it does.

        `parts` takes one out whenever it is asked for the next, and yields it.
        """
        excess = self.measure(to_json(record)) - self.most
        while excess > 0:
            for part in parts:
                excess -= self.weigh(part)
                if excess <= 0:
                    break
            else:
                return self.holds(record)
            excess = self.measure(to_json(record)) - self.most
        return True
