"""Texts about specifications for agents: each section with its citation."""

from collections.abc import Iterator

from ubp.frame.quoting import fenced, name, new_marker, quoted, title
from ubp.frame.wording import SHORT_ID, count, printable
from ubp.output.agent.pages import Record, day, notice

ONLY_EXCERPT = "The licence allows only excerpts: this is the beginning."


def languages_text(record: Record) -> str:
    """Return the languages, one line each."""
    languages = record["languages"]
    if not languages:
        return "No specification is here. A person can add one: ubp collections add go go\n"
    lines = [f"{count(len(languages), 'language')}. {notice(record)}"]
    lines += [
        f"{name(each['language'])}: {', '.join(map(name, each['docs']))}" for each in languages
    ]
    return "\n".join(lines) + "\n"


def versions_text(record: Record) -> str:
    """Return the versions, one line each."""
    versions = record["versions"]
    lines = [f"{count(len(versions), 'version')} of {name(record['language'])}. {notice(record)}"]
    for version in versions:
        fetched = f", fetched {day(version['fetched_at'])}" if version.get("fetched_at") else ""
        current = ", current" if version["is_current"] else ""
        lines.append(
            f"{name(version['version'])} of {name(version['doc'])}, commit "
            f"{version['commit'][:SHORT_ID]}{fetched}{current}: {printable(version['source_url'])}"
        )
    return "\n".join(lines) + "\n"


def spec_search_text(record: Record) -> str:
    """Return the sections, each with its citation and a snippet."""
    results = record["results"]
    if not results:
        return "No section answers this. Try different words, or list_versions.\n"
    lines = [f"{count(len(results), 'section')}, best first. {notice(record)}"]
    for result in results:
        lines += [*_cited(result), f"  {quoted(' '.join(result['snippet']['text'].split()))}"]
    return "\n".join(lines) + "\n"


def spec_section_text(record: Record) -> str:
    """Return the text of a section with its citation."""
    content = record["content"]
    text = content.get("fulltext") or content["excerpt"]
    marker = new_marker(text)
    lines = [*_cited(record["citation"]), *fenced(text, marker)]
    if content["is_truncated"] and not content["fulltext_available"]:
        lines.append(ONLY_EXCERPT)
    return "\n".join([notice(record, marker), *lines]) + "\n"


def learning_plan_text(record: Record) -> str:
    """Return the weeks with their sections, by ids."""
    place = f"{name(record['doc'])} {name(record['version'])}, commit {record['commit'][:SHORT_ID]}"
    lines = [f"{count(record['total_weeks'], 'week')} for {place}. {notice(record)}"]
    for week in record["weeks"]:
        lines.append(
            f"Week {week['week']}, {week['estimated_minutes']} minutes: {title(week['theme'])}"
        )
        for section in week["sections"]:
            address = f" {printable(section['url'])}" if section.get("url") else ""
            lines.append(
                f"  {section['estimated_minutes']} min {title(section['section_path'])} "
                f"({name(section['section_id'])}){address}"
            )
        if week.get("omitted_sections"):
            lines.append(f"  [{count(week['omitted_sections'], 'more section')}: max_tokens]")
    return "\n".join(lines) + "\n"


def spec_comparison_text(record: Record) -> str:
    """Return the sections that differ, each with the words that do."""
    versions = f"{name(record['old_version'])} and {name(record['new_version'])}"
    if not record["total_changes"]:
        return f"No section differs between {versions}.\n"
    number = count(record["total_changes"], "section")
    verb = "differs" if record["total_changes"] == 1 else "differ"
    lines = [f"{number} {verb} between {versions}. {notice(record)}"]
    for change in record["changes"]:
        cited = change.get("new") or change["old"]
        lines += [f"{change['kind']}:", *_cited(cited)]
        for words in change.get("words", ()):
            sign = "+" if words["kind"] == "added" else "-"
            lines.append(f"  {sign} {quoted(words['text'])}")
    omitted = record["total_changes"] - len(record["changes"])
    if omitted:
        lines.append(f"[{count(omitted, 'more section')}: use section_id or a larger max_tokens]")
    return "\n".join(lines) + "\n"


def _cited(citation: Record) -> Iterator[str]:
    place = f"{name(citation['doc'])} {name(citation['version'])}"
    policy = ", excerpts only" if citation["source_policy"] == "excerpt_only" else ""
    yield f"{title(citation['section_path'])} ({name(citation['section_id'])})"
    yield (
        f"  {place}, commit {citation['commit'][:SHORT_ID]}{policy}: {printable(citation['url'])}"
    )
