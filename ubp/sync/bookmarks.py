"""Bookmarks: exports of browsers and of services that save links, each link as a note.

Formats are recognized by their content: Netscape's bookmark file (all browsers, Pocket, Pinboard,
Raindrop), and JSON and CSV, whose columns have a few names each. A link that was saved twice is one
note; its file is named after its address, so that the next export changes it in place.
"""

import csv
import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from ubp.core.errors import CollectionError
from ubp.core.model import FilePath
from ubp.core.text import shorten, slug
from ubp.markdown.new_page import write_page

EXPORT_SUFFIXES = (".html", ".htm", ".json", ".csv", ".js")
MAX_EXPORT_BYTES = 64 << 20
MAX_DEPTH = 50  # of folders in JSON
MAX_TITLE_CHARACTERS = 200
MAX_SLUG_CHARACTERS = 60
MAX_CELL_CHARACTERS = 8 << 20

# What the services call their columns, lower-case and without punctuation, the best first.
URL_KEYS = (
    *("url", "href", "uri", "link", "tweeturl", "posturl", "expandedurl", "permalink"),
    *("resolvedurl", "givenurl"),
)
TITLE_KEYS = ("title", "resolvedtitle", "giventitle", "name")
TEXT_KEYS = (
    *("fulltext", "tweettext", "text", "note", "notes", "comment", "annotation", "selection"),
    *("excerpt", "extended", "description"),
)
DATE_KEYS = (
    *("bookmarkedat", "bookmarkdate", "savedat", "saveddate", "saved", "dateadded", "timeadded"),
    *("addedat", "added", "adddate", "timestamp", "time", "createdat", "created", "date"),
)
TAG_KEYS = ["tags", "labels", "documenttags", "keywords", "tag"]
CATEGORY_KEYS = ["category", "folder", "collection", "list"]
AUTHOR_KEYS = ["author", "screenname", "username", "authorusername", "handle", "creator", "user"]
ID_KEYS = ["tweetid", "idstr", "restid", "id"]
OTHER_ID_KEYS = ["raindropid", "hash", "guid"]
# Counts of those who liked or starred what was saved, also in a part of an object.
LIKE_KEYS = ("favoritecount", "likecount", "likes", "favouritescount", "favouritecount")
STAR_KEYS = ("stargazerscount", "starcount", "stars", "starscount")
COUNTS = ("publicmetrics", "legacy", "metrics")
MAX_DIGITS = 12
AUTHOR_NAMES = ["screenname", "username", "handle", "name"]
NO_CATEGORY = frozenset({"unread", "archive", "unsorted"})  # what services call having none
COUNTED = ("likes", "stars")
OWN_FIELDS = ("summary", "sentiment", "action")  # of exports that have been enriched already

# Parameters that say where a reader came from, and not what is read.
TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid?|yclid|_hs\w+|ref_src|ref_url|"
    r"vero_id|wt_mc|spm|si",
    re.IGNORECASE,
)
TWITTER = re.compile(
    r"(?:(?:www|mobile|m)\.)?(?:twitter|x)\.com/(?P<author>\w+|i/web)/status(?:es)?/(?P<id>\d+)",
    re.IGNORECASE,
)
# What a second has of each clock's units, and its epoch: Chrome's starts in 1601.
CLOCKS = ((1, 0), (1_000, 0), (1_000_000, 0), (1_000_000, 11_644_473_600))
MIN_SECONDS, MAX_SECONDS = 0, 4_102_444_800  # 1970 to 2100: in one clock only


class Bookmark(NamedTuple):
    """A saved link; `saved_at` is in seconds since the epoch, None if the export has no date.

    `export_id` is what the service calls it; `likes` and `stars` are how many others gave it.
    """

    url: str
    title: str = ""
    saved_at: int | None = None
    tags: tuple[str, ...] = ()
    category: str = ""
    author: str = ""
    text: str = ""
    summary: str = ""
    sentiment: str = ""
    action: str = ""
    export_id: str = ""
    likes: int = 0
    stars: int = 0

    @property
    def id(self) -> str:
        """The id of a post on X, else a digest of the canonical address."""
        post = TWITTER.search(self.url)
        return post["id"] if post else sha256(canonical_url(self.url).encode()).hexdigest()[:12]

    @property
    def path(self) -> FilePath:
        """Where its note is: it depends on the canonical address alone."""
        parts = urlsplit(canonical_url(self.url))
        if TWITTER.search(self.url):
            return FilePath(f"{self.id}.md")
        last = next((part for part in reversed(parts.path.split("/")) if part), "")
        name = slug(unquote(f"{parts.hostname or ''} {last}".replace(".", "-").replace("_", "-")))
        return FilePath(f"{name[:MAX_SLUG_CHARACTERS].strip('-') or 'link'}-{self.id}.md")

    def joined(self, other: "Bookmark") -> "Bookmark":
        """Return one bookmark for the same address: saved first, with the tags of both."""
        dates = [date for date in (self.saved_at, other.saved_at) if date is not None]
        filled = {
            name: getattr(self, name) or getattr(other, name)
            for name in ("title", "category", "author", "text", "export_id", *OWN_FIELDS)
        }
        filled |= {name: max(getattr(self, name), getattr(other, name)) for name in COUNTED}
        tags = tuple(dict.fromkeys(self.tags + other.tags))
        return self._replace(saved_at=min(dates, default=None), tags=tags, **filled)


class Export(NamedTuple):
    """The notes of an export by path; `left_out` entries have no web address."""

    notes: dict[FilePath, Bookmark]
    left_out: int


def is_export(path: str) -> bool:
    """Return whether a file may be an export of bookmarks, by its suffix."""
    return path.lower().endswith(EXPORT_SUFFIXES)


# Netscape's format begins with a document type of its own; Pocket's has the attribute of its dates.
_SIGNATURE = re.compile(
    rb"\A\s*<!DOCTYPE\s+NETSCAPE-Bookmark-file-1\b|<a\b[^<>]*\s(?:add_date|time_added)\s*=",
    re.IGNORECASE,
)


def is_bookmark_file(data: bytes) -> bool:
    """Return whether HTML is a file of bookmarks, and not a page with links."""
    return _SIGNATURE.search(data.removeprefix(BOM_UTF8)) is not None


def read_export(data: bytes, name: str) -> Export:
    """Return the bookmarks of an export, each address once.

    Raises:
        CollectionError: it is in no known format, or has no bookmark.
    """
    text = data.decode("utf-8-sig", "replace")
    start = text.lstrip()[:1]
    try:
        if start == "<":
            found = _read_html(text)
        elif start in {"[", "{"} or text.lstrip().startswith("window."):
            found = list(_read_json(text))
        else:
            found = list(_read_csv(text))
    except (ValueError, csv.Error, RecursionError) as error:
        raise CollectionError(f"Cannot read {name}.", cause=f"{error}.") from error
    notes: dict[FilePath, Bookmark] = {}
    left_out = 0
    for bookmark in found:
        try:
            is_web = urlsplit(bookmark.url).scheme in {"http", "https"}
            path = bookmark.path if is_web and urlsplit(bookmark.url).hostname else None
        except ValueError:  # an address like http://[
            path = None
        if path is None:
            left_out += 1
        else:
            notes[path] = notes[path].joined(bookmark) if path in notes else bookmark
    if not notes:
        raise CollectionError(
            f"There are no bookmarks in {name}.",
            cause="Exports are HTML of browsers, and JSON or CSV with a column for the address.",
            hint="Export your bookmarks again, and name that file.",
        )
    return Export(notes, left_out)


def write_note(bookmark: Bookmark, kept: Mapping[str, object]) -> bytes:
    """Return the note of a bookmark; `kept` are fields that the export may lack.

    The date is that on which it was saved. The text of one that has none is its address.
    """
    title = _title(bookmark)
    saved = None if bookmark.saved_at is None else datetime.fromtimestamp(bookmark.saved_at, UTC)
    address = clean_url(bookmark.url)
    known: dict[str, object] = {
        "id": bookmark.id,
        "url": address,
        "author": bookmark.author,
        "date": saved.strftime("%Y-%m-%dT%H:%M:%SZ") if saved else "",
        "tags": list(bookmark.tags),
        "category": bookmark.category,
        "sentiment": bookmark.sentiment,
        "action": bookmark.action,
        "summary": bookmark.summary,
        "export_id": bookmark.export_id if bookmark.export_id != bookmark.id else "",
        "likes": bookmark.likes,
        "stars": bookmark.stars,
    }
    fields = {name: value or kept.get(name) for name, value in known.items()}
    others = {name: value for name, value in kept.items() if name not in known}
    text = bookmark.text if bookmark.text != title else ""
    body = f"# {title}\n\n{text or f'<{_IN_NO_LINK.sub(_escape, address)}>'}\n"
    return write_page(body, {k: value for k, value in (fields | others).items() if value})


_IN_NO_LINK = re.compile(r"[\s<>]")


def _escape(match: re.Match[str]) -> str:
    return quote(match[0])


def canonical_url(url: str) -> str:
    """Return what two addresses of the same page have in common; it need not be an address."""
    post = TWITTER.search(url)
    if post:
        return f"https://x.com/i/status/{post['id']}"
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").removeprefix("www.").removesuffix(".")
    port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    query = urlencode(sorted(_query(parts.query)))
    path = re.sub(r"/(?:index\.html?)?$", "", parts.path)
    fragment = parts.fragment if parts.fragment.startswith(("!", "/")) else ""
    return (
        f"https://{host}{port}{path}{f'?{query}' if query else ''}{f'#{fragment}' * bool(fragment)}"
    )


def clean_url(url: str) -> str:
    """Return an address without the parameters that say where a reader came from."""
    parts = urlsplit(url.strip())
    wanted = _query(parts.query)
    if len(wanted) == len(parse_qsl(parts.query, keep_blank_values=True)):
        return url.strip()
    return parts._replace(query=urlencode(wanted)).geturl()


def _query(query: str) -> list[tuple[str, str]]:
    pairs = parse_qsl(query, keep_blank_values=True)
    return [(name, value) for name, value in pairs if not TRACKING.fullmatch(name)]


def _title(bookmark: Bookmark) -> str:
    title = " ".join((bookmark.title or bookmark.text.strip().split("\n")[0]).split())
    if not title:
        parts = urlsplit(bookmark.url)
        title = f"{parts.hostname}{parts.path}".rstrip("/")
    return shorten(title, MAX_TITLE_CHARACTERS)


def parse_moment(value: object) -> int | None:
    """Return a date as seconds since the epoch; None: it is none.

    Numbers count seconds, milliseconds or microseconds since 1970, or microseconds since 1601,
    whichever is a date that can be.
    """
    text = str(value or "").strip()
    if re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        for unit, offset in CLOCKS:
            if MIN_SECONDS < (seconds := float(text) / unit - offset) < MAX_SECONDS:
                return int(seconds)
        return None
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)  # also as X writes dates
        except (ValueError, TypeError):
            return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


# Python's parser of HTML takes a minute for 300 KB of unclosed tags; these patterns are linear.
_TAG = re.compile(r"<(/?)(a|h3|dl|dt|dd|ul|li)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""(?<![\w-])([\w-]{1,30})[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)'|([^\s"']+))"""
)
_ROOT = re.compile("(?:personal_toolbar|unfiled_bookmarks)_folder", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")


def _read_html(text: str) -> list[Bookmark]:
    """Return the bookmarks of Netscape's format: `<DT><A HREF ADD_DATE TAGS>`, in `<DL>`s."""
    found: list[Bookmark] = []
    folders: list[str] = []
    name = ""  # of the folder whose list comes next
    tags = list(_TAG.finditer(text))
    for tag, end in zip(tags, [*(tag.start() for tag in tags[1:]), len(text)], strict=True):
        kind, attributes = tag[2].lower(), tag[3]
        content = unescape(_ANY_TAG.sub("", text[tag.end() : end])).strip()
        if tag[1]:
            if kind == "dl" and folders:
                folders.pop()
        elif kind == "dl":
            folders.append(name)
            name = ""
        elif kind == "h3":
            is_root = _ROOT.search(attributes)
            name = "" if is_root else " ".join(content.split())
        elif kind == "dd" and found and content:
            found[-1] = found[-1]._replace(text=content)
        elif kind == "a":
            given = {
                key.lower(): unescape(double or single or plain)
                for key, double, single, plain in _ATTRIBUTE.findall(attributes)
            }
            if "href" in given:
                found.append(
                    Bookmark(
                        given["href"],
                        " ".join(content.split()),
                        parse_moment(given.get("add_date") or given.get("time_added")),
                        _tags(given.get("tags", "")),
                        "/".join(filter(None, folders)),
                    )
                )
    return found


def _read_json(text: str) -> Iterator[Bookmark]:
    if text.lstrip().startswith("window."):  # an archive of X: a script that assigns the list
        text = text.partition("=")[2]
    document = json.loads(text)
    authors: dict[str, str] = {}
    if isinstance(document, dict) and isinstance(document.get("includes"), dict):
        users = document["includes"].get("users")
        for user in users if isinstance(users, list) else ():
            if isinstance(user, dict):
                authors[str(user.get("id"))] = str(user.get("username", ""))
    yield from _records(document, authors, (), 0)


def _records(
    value: object, authors: Mapping[str, str], folders: tuple[str, ...], depth: int
) -> Iterator[Bookmark]:
    """Yield the bookmarks in a JSON value; objects with `children` are folders."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _records(item, authors, folders, depth + 1)
    elif isinstance(value, dict):
        bookmark = _bookmark({_key(name): item for name, item in value.items()}, authors)
        if bookmark is not None:
            category = bookmark.category or "/".join(folders)
            yield bookmark._replace(category=category)
            return
        # The roots of browsers (bookmarks bar, other bookmarks) are places, not categories.
        is_root = "root" in value or not value.get("children")
        name = value.get("title") or value.get("name")
        inner = folders if is_root or not isinstance(name, str) else (*folders, name)
        for key, item in value.items():
            if key == "roots" and isinstance(item, dict):
                for root in item.values():
                    children = root.get("children") if isinstance(root, dict) else None
                    yield from _records(children, authors, (), depth + 1)
            elif isinstance(item, list | dict) and key != "includes":
                yield from _records(item, authors, inner, depth + 1)


def _read_csv(text: str) -> Iterator[Bookmark]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter):
        given = {_key(name): value for name, value in row.items() if isinstance(name, str)}
        yield _bookmark(given, {}) or Bookmark("")


def _key(name: object) -> str:
    return re.sub(r"[\W_]+", "", str(name)).lower()


def _bookmark(record: Mapping[str, Any], authors: Mapping[str, str]) -> Bookmark | None:
    """Return the bookmark that an object or row is, by its normalized keys; None: it is none."""
    url = _first_text(record, URL_KEYS)
    author = _author(record, authors)
    number = _first_text(record, ID_KEYS)
    is_post = "fulltext" in record or "tweetid" in record or ("text" in record and number)
    if not url and is_post and number.isdecimal():
        url = f"https://x.com/{author.removeprefix('@') or 'i/web'}/status/{number}"
    if not url:
        return None
    post = TWITTER.search(url)
    if post and not author and "/" not in post["author"]:
        author = post["author"]
    if post and author and " " not in author:
        author = f"@{author.removeprefix('@')}"
    titles: Sequence[str] = TITLE_KEYS
    texts: Sequence[str] = TEXT_KEYS
    if "href" in record and "extended" in record:  # Pinboard calls the title a description
        titles, texts = ["description"], ["extended"]
    if post:  # `name` is that of the author
        titles = ["title"]
    found = dict.fromkeys(_text(record.get(key)) for key in texts)
    summary, sentiment, action = (_text(record.get(name)) for name in OWN_FIELDS)
    return Bookmark(
        url,
        _first_text(record, titles),
        next((m for key in DATE_KEYS if (m := parse_moment(record.get(key))) is not None), None),
        next((tags for key in TAG_KEYS if (tags := _tags(record.get(key), record))), ()),
        _category(record),
        author,
        "\n\n".join(filter(None, found)),
        summary,
        sentiment,
        action,
        number or _first_text(record, OTHER_ID_KEYS),
        _count(record, LIKE_KEYS),
        _count(record, STAR_KEYS),
    )


def _count(record: Mapping[str, Any], keys: Sequence[str]) -> int:
    """Return the first of these numbers of an object, or of the parts that have its counts."""
    parts = [record, *(record.get(name) for name in COUNTS)]
    for part in parts:
        values = (
            {_key(name): value for name, value in part.items()} if isinstance(part, dict) else {}
        )
        for text in (_text(values.get(key)) for key in keys):
            if text.isdecimal() and len(text) <= MAX_DIGITS:
                return int(text)
    return 0


def _author(record: Mapping[str, Any], authors: Mapping[str, str]) -> str:
    for key in AUTHOR_KEYS:
        value = record.get(key)
        if isinstance(value, dict):
            value = _first_text({_key(k): item for k, item in value.items()}, AUTHOR_NAMES)
        if _text(value):
            return _text(value)
    return authors.get(str(record.get("authorid")), "")


def _category(record: Mapping[str, Any]) -> str:
    for key in CATEGORY_KEYS:
        value = record.get(key)
        if isinstance(value, dict):
            value = value.get("title") or value.get("name")
        if _text(value):
            return "" if _text(value).lower() in NO_CATEGORY else _text(value)
    return ""


def _tags(value: object, record: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Return tags as they are listed: in a list, in JSON, or separated in one of four ways."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                return _tags(json.loads(text))
            except ValueError:
                pass
        separator = next((sign for sign in "|,;" if sign in text), None)
        is_pinboard = record is not None and "href" in record
        value = text.split(separator) if separator or is_pinboard else [text]
    if not isinstance(value, Sequence):
        return ()
    names = []
    for item in value:
        name = item
        if isinstance(item, dict):
            name = next((item[key] for key in ("name", "label", "tag", "title") if key in item), "")
        names.append(" ".join(_text(name).removeprefix("#").split()))
    return tuple(dict.fromkeys(filter(None, names)))


def _first_text(record: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((text for key in keys if (text := _text(record.get(key)))), "")


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()
