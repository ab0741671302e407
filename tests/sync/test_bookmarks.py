"""Exports of bookmarks, as the services write them, and the notes that they become."""

import json
import time

import pytest

from ubp.core.errors import CollectionError
from ubp.edits import changes
from ubp.edits.model import Agent
from ubp.edits.propose import EditRequest, propose
from ubp.edits.review import accept
from ubp.sync.bookmarks import (
    canonical_url,
    is_bookmark_file,
    parse_moment,
    read_export,
    write_note,
)
from ubp.workspace import Workspace

NETSCAPE = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1700000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><H3>Dev &amp; Ops</H3>
        <DL><p>
            <DT><A HREF="https://www.example.com/a/?utm_source=x&id=7" ADD_DATE="1736899200"
              TAGS="rag,llm">A <b>guide</b></A>
            <DD>What it says.
            <DT><A HREF="javascript:alert(1)">Bookmarklet</A>
        </DL><p>
        <DT><A HREF="http://example.com/a?id=7#top" ADD_DATE="1736812800000" TAGS="db">Again</A>
    </DL><p>
    <DT><A HREF="https://例え.jp/記事/認証" ADD_DATE="1736985600">認証の記事</A>
</DL><p>
"""
POCKET = """title,url,time_added,cursor,tags,status
A guide,https://example.com/a?id=7,1736899200,,rag|llm,unread
"""
RAINDROP = """id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite
7,"A, guide",My note,"What it
says",https://example.com/a?id=7,Dev / Ops,"rag, llm",2025-01-15T00:00:00.000Z,,,false
8,B,,,https://example.com/b,Unsorted,,2025-01-16T00:00:00.000Z,,,false
"""
INSTAPAPER = """URL,Title,Selection,Folder,Timestamp,Tags
https://example.com/a?id=7,A guide,What it says,Unread,1736899200,"[""rag"", ""llm""]"
"""
PINBOARD = [
    {
        "href": "https://example.com/a?id=7",
        "description": "A guide",
        "extended": "What it says",
        "meta": "0",
        "hash": "0",
        "time": "2025-01-15T00:00:00Z",
        "shared": "no",
        "toread": "no",
        "tags": "rag llm",
    }
]
POSTS = [
    {
        "id": "1234567890",
        "created_at": "Wed Jan 15 00:00:00 +0000 2025",
        "full_text": "Patterns of RAG\nin one thread",
        "screen_name": "ai_researcher",
        "name": "A. Researcher",
        "url": "https://twitter.com/ai_researcher/status/1234567890?s=20",
        "favorite_count": 3,
    },
    {
        "id": "77",
        "text": "No address",
        "author": {"username": "someone"},
        "bookmarked_at": "2025-01-16",
    },
]
API = {
    "data": [{"id": "5", "text": "Hi", "author_id": "9", "created_at": "2025-01-15T00:00:00.000Z"}],
    "includes": {"users": [{"id": "9", "username": "jack"}]},
}
CHROME = {
    "roots": {
        "bookmark_bar": {
            "name": "Bookmarks bar",
            "type": "folder",
            "children": [
                {
                    "name": "Dev",
                    "type": "folder",
                    "children": [
                        {
                            "date_added": "13381372800000000",
                            "name": "A guide",
                            "type": "url",
                            "url": "https://example.com/a?id=7",
                        }
                    ],
                }
            ],
        }
    }
}
FIREFOX = {
    "title": "",
    "root": "placesRoot",
    "children": [
        {
            "title": "menu",
            "root": "bookmarksMenuFolder",
            "children": [
                {
                    "title": "Dev",
                    "children": [
                        {
                            "title": "A guide",
                            "uri": "https://example.com/a?id=7",
                            "dateAdded": 1736899200000000,
                            "tags": "rag,llm",
                        }
                    ],
                }
            ],
        }
    ],
}
DAY = 1736899200  # 2025-01-15


def notes(export):
    text = export if isinstance(export, str) else json.dumps(export)
    return list(read_export(text.encode(), "export").notes.values())


def test_bookmark_file_of_a_browser_becomes_notes_in_folders_without_duplicates():
    export = read_export(NETSCAPE.encode(), "bookmarks.html")
    assert export.left_out == 1
    guide, article = export.notes.values()
    assert guide.title == "A guide"
    assert guide.saved_at == DAY - 86_400  # the first time
    assert guide.tags == ("rag", "llm", "db")
    assert guide.category == "Dev & Ops"
    assert guide.text == "What it says."
    assert (article.title, article.category) == ("認証の記事", "")
    assert list(export.notes) == [
        f"example-com-a-{guide.id}.md",
        f"例え-jp-認証-{article.id}.md",
    ]


@pytest.mark.parametrize(
    ("export", "tags", "category", "text"),
    [
        (POCKET, ("rag", "llm"), "", ""),
        (INSTAPAPER, ("rag", "llm"), "", "What it says"),
        (PINBOARD, ("rag", "llm"), "", "What it says"),
        (CHROME, (), "Dev", ""),
        (FIREFOX, ("rag", "llm"), "Dev", ""),
    ],
    ids=["pocket", "instapaper", "pinboard", "chrome", "firefox"],
)
def test_exports_of_services_become_the_same_notes(export, tags, category, text):
    (note,) = notes(export)
    assert (note.title, note.saved_at, note.tags) == ("A guide", DAY, tags)
    assert (note.category, note.text, note.author) == (category, text, "")
    assert note.path == notes(NETSCAPE)[0].path


def test_raindrop_export_keeps_the_note_and_the_excerpt():
    guide, other = notes(RAINDROP)
    assert guide.title == "A, guide"
    assert guide.text == "My note\n\nWhat it\nsays"
    assert (guide.tags, guide.category) == (("rag", "llm"), "Dev / Ops")
    assert other.category == ""


def test_posts_on_x_keep_their_ids_and_authors():
    post, other = notes(POSTS)
    assert (post.id, post.path, post.author) == ("1234567890", "1234567890.md", "@ai_researcher")
    assert (post.saved_at, post.text) == (DAY, "Patterns of RAG\nin one thread")
    assert (other.url, other.author) == ("https://x.com/someone/status/77", "@someone")
    (answered,) = notes(API)
    assert (answered.url, answered.author) == ("https://x.com/jack/status/5", "@jack")
    script = "window.YTD.like.part0 = " + json.dumps(
        [
            {
                "like": {
                    "tweetId": "5",
                    "fullText": "Hi",
                    "expandedUrl": "https://x.com/i/web/status/5",
                }
            }
        ]
    )
    assert [note.id for note in notes(script)] == ["5"]


def test_note_has_the_date_of_its_link_and_keeps_what_the_export_lacks():
    (note,) = notes(POCKET)
    kept = {"summary": "Five patterns.", "rating": 5, "tags": ["old"]}
    assert write_note(note, kept).decode() == (
        f"---\nid: {note.id}\nurl: https://example.com/a?id=7\ndate: '2025-01-15T00:00:00Z'\n"
        "tags:\n- rag\n- llm\nsummary: Five patterns.\nrating: 5\n---\n\n# A guide\n\n<https://example.com/a?id=7>\n"
    )


@pytest.mark.parametrize(
    ("bookmark", "body"),
    [
        ({"title": "T"}, "# T\n\n<https://example.com/a%3Eb%20c>\n"),
        ({"text": "A thread"}, "# A thread\n\n<https://example.com/a%3Eb%20c>\n"),
        ({"title": "T", "text": "What it says"}, "# T\n\nWhat it says\n"),
    ],
)
def test_bookmark_without_a_text_has_its_address_as_text(bookmark, body):
    (note,) = notes(json.dumps([{"url": "https://example.com/a>b c", **bookmark}]))
    assert write_note(note, {}).decode().partition("---\n\n")[2] == body


@pytest.mark.parametrize(
    ("address", "other"),
    [
        ("http://www.Example.com/a/", "https://example.com/a#part"),
        ("https://example.com/a?b=1&a=2&fbclid=x", "https://example.com/a?a=2&b=1"),
        ("https://example.com/index.html", "https://example.com"),
        ("https://mobile.twitter.com/me/status/1?s=20", "https://x.com/other/status/1"),
    ],
)
def test_addresses_of_the_same_page_are_equal(address, other):
    assert canonical_url(address) == canonical_url(other)


@pytest.mark.parametrize(
    ("address", "other"),
    [
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/?v=1", "https://example.com/?v=2"),
        ("https://example.com/#/inbox", "https://example.com/#/sent"),
        ("https://example.com:8080/", "https://example.com/"),
        ("https://x.com/me/status/1", "https://x.com/me/status/2"),
    ],
)
def test_addresses_of_different_pages_differ(address, other):
    assert canonical_url(address) != canonical_url(other)


@pytest.mark.parametrize(
    "value",
    [
        *(DAY, f"{DAY}.5", DAY * 1000, DAY * 1_000_000, 13381372800000000, "2025-01-15"),
        *("2025-01-15T00:00:00Z", "2025-01-15T09:00:00+09:00", "2025/01/15 00:00:00"),
        *("Wed, 15 Jan 2025 00:00:00 GMT", "Wed Jan 15 00:00:00 +0000 2025"),
    ],
)
def test_dates_are_read_in_every_notation(value):
    assert parse_moment(value) == DAY


@pytest.mark.parametrize("value", [None, "", "soon", "0", -5, "9" * 40])
def test_invalid_date_is_none(value):
    assert parse_moment(value) is None


@pytest.mark.parametrize(
    "text", ["<a " * 100_000, "<!--" * 100_000, "<" * 300_000, "<a x=" * 50_000]
)
def test_export_of_any_text_is_read_in_linear_time(text):
    started = time.process_time()
    with pytest.raises(CollectionError):
        read_export(text.encode(), "export")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"<html></html>", b"a,b\n1,2\n", b"\xff\xfe\0", b"[" * 100_000]
)
def test_file_without_bookmarks_is_refused(data):
    with pytest.raises(CollectionError):
        read_export(data, "export")


def test_next_export_of_bookmarks_updates_the_collection_in_place(run, stored, tmp_path):
    export = tmp_path / "pocket.csv"
    export.write_text(POCKET + "Left,mailto:a@b.c,1736899200,,,unread\n")
    assert "1 file: 1 added" in run("collections", "add", "saved", "pocket.csv", "--yes")
    (path,) = stored("saved", "ls-tree", "-r", "--name-only", "main").split()
    assert "# A guide" in stored("saved", "show", f"main:{path}")
    assert "Left-Out: 1" in stored("saved", "log", "-1", "--format=%B", "main")
    assert "unchanged" in run("collections", "sync", "saved")
    export.write_text(POCKET.replace("A guide", "A better guide") + "B,https://b.example/,1,,,\n")
    assert "1 added, 1 changed" in run("collections", "sync", "saved")
    assert "# A better guide" in stored("saved", "show", f"main:{path}")
    result = run("search", "--in", "saved", "guide", "tag:rag")
    assert result.count("A better guide") == 1
    assert "<https://example.com/a?id=7>" in result
    text = tmp_path / "notes.txt"
    text.write_text("plain")
    assert "export of bookmarks" in run("collections", "add", "other", "notes.txt", status=2)


def test_fields_that_an_agent_proposed_for_a_bookmark_are_kept(run, stored, tmp_path):
    export = tmp_path / "pocket.csv"
    export.write_text(POCKET)
    run("collections", "add", "saved", "pocket.csv", "--yes")
    (path,) = stored("saved", "ls-tree", "-r", "--name-only", "main").split()
    text = stored("saved", "show", f"main:{path}").replace("tags:", "sentiment: positive\ntags:")
    with Workspace.open_collection("saved") as workspace:
        change = changes.replace(workspace.session, text)
        edit = EditRequest(Agent("a 1.0", "a"), "update", path, change, "It is kind.")
        propose(workspace.session, edit)
        accept(workspace.session, 1)
    export.write_text(POCKET.replace("A guide", "A better guide"))
    assert "1 changed" in run("collections", "sync", "saved")
    assert "A better guide" in run("search", "--in", "saved", "guide sentiment:positive")


def test_exports_in_a_folder_are_read_where_a_pattern_includes_them(run, stored, tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "pocket.csv").write_text(POCKET)
    (folder / "raindrop.csv").write_text(RAINDROP)
    (folder / "own.md").write_text("# Own\n")
    (folder / "table.csv").write_text("a,b\n1,2\n")
    patterns = ["--include", "*.csv", "--include", "*.md"]
    run("collections", "add", "saved", str(folder), *patterns, "--yes")
    paths = stored("saved", "ls-tree", "-r", "--name-only", "main").split()
    assert len(paths) == 4
    assert {"own.md", "table.csv"} < {*paths}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbf<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>", True),
        (b'<ul><li><a href="https://a.example/" time_added="1" tags="">A</a></ul>', True),
        (b'<dl><dt><A HREF="https://a.example/" ADD_DATE="1">A</A></dl>', True),
        (b'<!DOCTYPE html><a href="https://a.example/">A</a>', False),
        (b"<!DOCTYPE html><pre>&lt;A ADD_DATE=1&gt; of NETSCAPE-Bookmark-file-1</pre>", False),
    ],
)
def test_bookmark_file_has_its_type_or_dates_of_links(data, expected):
    assert is_bookmark_file(data) is expected


def test_page_in_a_folder_is_converted_and_a_file_of_bookmarks_is_read(run, stored, tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    page = '<title>Guide</title><h1>Guide</h1><p>Quinces. <a href="https://a.example/b">B</a>'
    (folder / "page.html").write_text(page)
    (folder / "saved.html").write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>"
        '<DL><p><DT><A HREF="https://example.com/a" ADD_DATE="1736899200">A</A></DL>'
    )
    run("collections", "add", "mixed", str(folder), "--include", "*.html", "--yes")
    paths = stored("mixed", "ls-tree", "-r", "--name-only", "main").split()
    assert len(paths) == 2
    assert "Quinces." in stored("mixed", "show", "main:page.md")
    run("collections", "add", "named", str(folder / "page.html"), "--yes")
    (path,) = stored("named", "ls-tree", "-r", "--name-only", "main").split()
    assert path.startswith("a-example-b-")


@pytest.mark.parametrize(
    ("entry", "likes", "stars"),
    [
        ({"favorite_count": 7}, 7, 0),
        ({"public_metrics": {"like_count": 8, "retweet_count": 3}}, 8, 0),
        ({"legacy": {"favorite_count": 9}}, 9, 0),
        ({"stargazers_count": 1250}, 0, 1250),
        ({"likes": "many", "stars": -3}, 0, 0),
        ({"favorite": True}, 0, 0),
    ],
)
def test_likes_and_stars_of_an_export_are_kept(entry, likes, stars):
    (note,) = notes(json.dumps([{"url": "https://example.com/a", **entry}]))
    assert (note.likes, note.stars) == (likes, stars)
    text = write_note(note, {}).decode()
    assert (f"\nlikes: {likes}\n" in text) is bool(likes)
    assert (f"\nstars: {stars}\n" in text) is bool(stars)


def test_id_of_a_service_is_kept_beside_the_hash_of_the_address():
    saved = [
        {"url": "https://example.com/a", "id": 4711},
        {"url": "https://x.com/jack/status/20", "id_str": "20"},
    ]
    other, post = notes(json.dumps(saved))
    assert other.id == notes(json.dumps([{"url": "http://www.example.com/a"}]))[0].id
    assert f"id: {other.id}\n" in write_note(other, {}).decode()
    assert "export_id: '4711'\n" in write_note(other, {}).decode()
    assert "export_id" not in write_note(post, {}).decode()
