"""The judge of alarms: with `--alarms judged` a change fails for what it does not find accurate.

Each page that names what the change changes is a case, as in `ubp review --judge`, with the same
verdicts. What could not be judged stays an alarm, and one sentence says why.
"""

from ubp.answers.review.judge import find_judge, judge_cases
from ubp.core.errors import UsageError
from ubp.core.model import FilePath, Judgement
from ubp.frame.records import JudgeRecord
from ubp.index.session import Session
from ubp.review.run import review_pages
from ubp.staleness.model import Change

DEFAULT_CASES = 10


class AlarmJudge:
    """A `ubp.staleness.model.Judge` for one change, which asks about each page once.

    `record` says what that cost; None: nobody was asked, because there was nothing to ask.
    """

    def __init__(self, session: Session, max_cases: int = DEFAULT_CASES) -> None:
        self.record: JudgeRecord | None = None
        self._session = session
        self._max_cases = max_cases
        self._judgements: dict[FilePath, Judgement] = {}
        self._pages: set[FilePath] = set()

    def __call__(self, change: Change, pages: frozenset[FilePath]) -> dict[FilePath, Judgement]:
        """Return what the judge says of these pages; of those that it was not asked, nothing."""
        if new := pages - self._pages:
            self._pages |= new
            self._ask(change, new)
        return {path: self._judgements[path] for path in pages if path in self._judgements}

    def _ask(self, change: Change, pages: frozenset[FilePath]) -> None:
        try:
            judge = find_judge(self._session.environment)
        except UsageError as error:
            cause = f" {error.cause}" if error.cause else ""
            problem = f"{error.message}{cause} So `judged` means `named` here."
            self._add(JudgeRecord("", 0, 0, len(pages), 0, 0, None, (problem,)))
            return
        review = review_pages(self._session, change, pages)
        asked = self.record.asked if self.record else 0
        limit = max(0, self._max_cases - asked)
        judged = judge_cases(self._session, judge, review.cases, review.subjects, limit)
        self._judgements.update(judged.judgements)
        self._add(judged.record)

    def _add(self, record: JudgeRecord) -> None:
        """Join what was asked about a change and about the same with its base's settings."""
        first = self.record
        if first is None:
            self.record = record
            return
        costs = [cost for cost in (first.cost, record.cost) if cost is not None]
        self.record = JudgeRecord(
            model=first.model or record.model,
            asked=first.asked + record.asked,
            cached=first.cached + record.cached,
            unjudged=first.unjudged + record.unjudged,
            prompt_tokens=first.prompt_tokens + record.prompt_tokens,
            completion_tokens=first.completion_tokens + record.completion_tokens,
            cost=sum(costs) if costs else None,
            problems=tuple(dict.fromkeys((*first.problems, *record.problems))),
        )
