"""Texts about notes for agents: found ones, answers, recommendations, trends, reports."""

from collections.abc import Iterator

from ubp.frame.quoting import fenced, name, new_marker, quoted, title
from ubp.frame.wording import SHORT_ID, count, printable
from ubp.output.agent.pages import Record, day, notice


def notes_text(record: Record) -> str:
    """Return the notes, each with its passage."""
    results = record["results"]
    if not results:
        return f"No note matches. Try different words, or fewer filters. {notice(record)}\n"
    more = "" if record.get("is_total_exact", True) else " or more"
    number = f"{count(len(results), 'note')} of {record['totalMatches']}{more}"
    lines = [f"{number}, best first. {notice(record)}"]
    for result in results:
        texts = [result[key] for key in ("summary", "text") if result.get(key)]
        lines.append(f"{title(result['title'])} {_about(result)}")
        lines += [
            f"  {quoted(' '.join(text.split()))}" for text in texts if text != result["title"]
        ]
    return "\n".join(lines) + "\n"


def _about(note: Record) -> str:
    """Return the id, path and other facts of a note, in parentheses."""
    facts = [f"id {name(note['tweetId'])}", name(note["path"])]
    facts += [
        name(note[key]) for key in ("author", "category", "sentiment", "action") if note.get(key)
    ]
    facts += [note["date"]] if note.get("date") else []
    facts += [", ".join(f"#{name(tag)}" for tag in note["tags"])] if note.get("tags") else []
    address = f": {printable(note['url'])}" if note.get("url") else ""
    return f"({'; '.join(facts)}){address}"


def answer_text(record: Record) -> str:
    """Return the answer and the passages."""
    if not record["answer"]:
        return f"The notes have no answer. {notice(record)}\n"
    sources = record.get("sources", [])
    marker = new_marker(record["answer"], *(source["text"] for source in sources))
    sure = f"confidence {record['confidence']}"
    if writer := record.get("written_by"):
        first = f"Written by {name(writer)} from the passages that it cites; {sure}."
    else:
        why = f" {quoted(record['why_not_written'])}" if record.get("why_not_written") else ""
        weak = "Probably no note answers this. " if record.get("is_weak") else ""
        first = f"{weak}Passages of notes, best first; {sure}.{why}"
    lines = [f"{first} {notice(record, marker)}"]
    if record.get("written_by") or not sources:
        lines += fenced(record["answer"], marker)
    for source in sources:
        lines.append(f"[{source['number']}] {title(source['title'])} {_about(source)}")
        lines.append(f"  lines {source['line_start']}-{source['line_end']}")
        lines += fenced(source["text"], marker)
    return "\n".join(lines) + "\n"


def recommendations_text(record: Record) -> str:
    """Return the tools and articles, one each line with the reason below it."""
    found = record["recommendations"]
    if not found:
        return f"The notes recommend nothing for this. {notice(record)}\n"
    lines = [f"{count(len(found), 'recommendation')}, best first. {notice(record)}"]
    for item in found:
        what = title(item.get("name") or item.get("title", ""))
        report = ""
        if item["type"] == "tool" and item.get("security_score") is not None:
            report = f", report: {item['security_score']} of 100"
        address = f": {printable(item['url'])}" if item.get("url") else ""
        lines.append(f"{item['type']} {what}{report}{address}")
        lines.append(f"  {quoted(item['reason'])} ({', '.join(map(name, item['paths'][:5]))})")
    return "\n".join(lines) + "\n"


def trends_text(record: Record) -> str:
    """Return the topics of a period, the notes about most of them, and new tools."""
    span = record["dateRange"]
    category = f" in {name(record['category'])}" if record.get("category") else ""
    lines = [
        f"{span['from']} to {span['to']}{category}. {notice(record)}",
        quoted(record["summary"]),
    ]
    lines += [
        f"{topic['trend']} {name(topic['topic'])} ({topic['kind']}): {topic['count']}, "
        f"{topic['before']} before"
        for topic in record["topTopics"]
    ]
    for note in record["notableBookmarks"]:
        about = f"id {name(note['tweetId'])}; {name(note['path'])}"
        lines.append(f"note {quoted(note['text'])} ({about}): {quoted(note['reason'])}")
    if record["newTools"]:
        tools = (f"{name(tool['name'])} ({tool['mentions']})" for tool in record["newTools"])
        lines.append(f"new names: {', '.join(tools)}")
    return "\n".join(lines) + "\n"


def oss_report_text(record: Record) -> str:
    """Return the report: the score with each point, and the other facts."""
    at = f"commit {record['commit'][:SHORT_ID]}, {day(record['verifiedAt'])}"
    score = f"score {record['securityScore']} of 100: {record['securityVerdict']}"
    lines = [
        f"{name(record['repoUrl'])}, {at}. {notice(record)}",
        f"{score}. {quoted(record['usageNotes'])}",
        *_facts(record),
    ]
    for point in record["points"]:
        points = f"{point['points']}/{point['most']}"
        lines.append(f"  {points} {name(point['name'])}: {quoted(point['evidence'])}")
    return "\n".join(lines) + "\n"


def _facts(record: Record) -> Iterator[str]:
    stars = f", {record['stars']} stars" if record.get("stars") is not None else ""
    yield (
        f"licence {quoted(record.get('license') or 'unknown')}, "
        f"language {name(record.get('language') or 'unknown')}{stars}, "
        f"build {record['buildResult']}, tests {record['testResult']}"
    )
