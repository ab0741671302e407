"""Sentences about notes that every surface shares."""

from ubp.notes.recommend import Recommendation
from ubp.notes.trends import Topic, Trends

MAX_NAMED = 3


def trends_summary(trends: Trends) -> str:
    """Return the most important of a period in a sentence or two."""
    notes = f"{trends.notes} note" if trends.notes == 1 else f"{trends.notes} notes"
    parts = [f"{notes}, {trends.before} in the period before."]
    for trend, word in (("new", "New"), ("up", "More"), ("down", "Fewer")):
        topics = [topic for topic in trends.topics if topic.trend == trend][:MAX_NAMED]
        if topics:
            parts.append(f"{word}: {', '.join(map(_counted, topics))}.")
    return " ".join(parts)


def _counted(topic: Topic) -> str:
    if topic.trend == "new":
        return f"{topic.name} ({topic.notes})"
    return f"{topic.name} ({topic.notes}, {topic.before} before)"


def meets(found: Recommendation) -> str:
    """Return which needs a tool or article meets, and which notes say so."""
    needs = " and ".join(f'"{need}"' for need in found.needs)
    if found.kind == "article":
        return f"Answers {needs}."
    titles = ", ".join(f'"{note.title}"' for note in found.notes[:MAX_NAMED])
    mention = "1 note mentions" if len(found.notes) == 1 else f"{len(found.notes)} notes mention"
    report = f" Its report has a score of {found.report.score}." if found.report else ""
    return f"Meets {needs}: {mention} it, such as {titles}.{report}"
