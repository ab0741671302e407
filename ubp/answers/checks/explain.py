"""`ubp explain`: the manuals of rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.checks.finding import Setting
from ubp.checks.registry import NAMES, RULES, find_rules
from ubp.frame.answer import Answer, Place, Request
from ubp.frame.fields import Option
from ubp.frame.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRecord:
    """A rule and its manual."""

    rule: Annotated[str, "its name"]
    severity: Annotated[Setting, "its severity by default"]
    summary: Annotated[str, "one sentence"]
    manual: Annotated[str, "its manual, in Markdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesRecord:
    """Manuals of the rules."""

    rules: Annotated[tuple[RuleRecord, ...], "rules in a fixed order"]


@dataclass(frozen=True, slots=True)
class ExplainRequest(Request[RulesRecord]):
    """The rules to explain; none: all of them."""

    rules: Annotated[
        tuple[str, ...],
        "names of rules",
        Option("Rules to explain.", is_argument=True, choices=NAMES),
    ] = ()


def run(_: Place, request: ExplainRequest) -> RulesRecord:
    """Return the manuals of rules.

    Raises:
        UsageError: a rule does not exist.
    """
    return RulesRecord(
        rules=tuple(
            RuleRecord(
                rule=rule.name, severity=rule.severity, summary=rule.summary, manual=rule.manual
            )
            for rule in (find_rules(request.rules) if request.rules else RULES)
        )
    )


def text(record: RulesRecord, write: Writer) -> Iterator[str]:
    """Yield the manuals one below the other; of all rules only a line for each."""
    if len(record.rules) < len(RULES):
        for number, rule in enumerate(record.rules):
            if number:
                yield ""
            yield f"{write.style.bold(rule.rule)} ({rule.severity})"
            yield ""
            yield rule.manual
        return
    width = max(map(len, NAMES))
    for rule in record.rules:
        padding = " " * (width - len(rule.rule))
        yield f"{write.style.bold(rule.rule)}{padding}  {rule.severity:<7}  {rule.summary}"
    yield ""
    yield "Run `ubp explain RULE` for details."


EXPLAIN = Answer(
    request=ExplainRequest,
    record=RulesRecord,
    run=run,
    text=text,
    run_anywhere=run,
    has_facts=False,
)
