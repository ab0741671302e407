"""The tables of the index. They hold derived data: a change raises FORMAT, nothing is migrated.

SQLite keeps the text of each statement, and `database` compares it with the one here. It keeps no
checksums: each row from which an answer is derived has its own, see CHECKED.
"""

from functools import cache
from typing import NamedTuple

FORMAT = 47
"""`PRAGMA user_version`, and part of the file's name. Raise it with the schema, and with what
`parse_page`, `parse_markdown`, `read_names`, `read_mentions`, `ubp.core.text`,
`ubp.index.embed.text`, `ubp.markdown.resolve` or `is_document` return for the same bytes and
paths: each format has a file of its own, built from scratch."""

# Ids are 20 bytes. A path is TEXT, or a BLOB if its bytes are not UTF-8 (`codec.py`).
SCHEMA = """
-- A page's facts under the front matter keys that were read. They never change.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    blob BLOB NOT NULL,
    keys TEXT NOT NULL,
    is_bound INTEGER NOT NULL, -- it has references or problems, so that `ubp stale` wants it
    content TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (blob, keys)
);
CREATE INDEX bound_facts ON facts (keys, blob) WHERE is_bound;

-- The files of one commit, for each work tree. A larger generation was created or moved later.
CREATE TABLE listing (
    id INTEGER PRIMARY KEY,
    git_dir NOT NULL UNIQUE,
    "commit" BLOB NOT NULL,
    scope TEXT NOT NULL,       -- the configuration under which `is_document` was set
    complete_for TEXT,         -- the front matter keys under which every document has facts
    bound_sum INTEGER,         -- of the checksums of documents with references, under these keys
    generation INTEGER NOT NULL UNIQUE,
    entry_sum INTEGER NOT NULL, -- of the checksums of its entries, so that none is lost unseen
    checksum INTEGER NOT NULL
);
CREATE TABLE entry (
    listing INTEGER NOT NULL REFERENCES listing ON DELETE CASCADE,
    path NOT NULL,
    mode INTEGER NOT NULL,
    id BLOB NOT NULL,
    is_document INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (listing, path)
) WITHOUT ROWID;
CREATE INDEX document ON entry (listing, id) WHERE is_document;

-- Answers of history as seen from a commit. A larger id was queried later.
CREATE TABLE head (
    id INTEGER PRIMARY KEY,
    "commit" BLOB NOT NULL UNIQUE
);
CREATE TABLE last_change (
    head INTEGER NOT NULL REFERENCES head ON DELETE CASCADE,
    path NOT NULL,
    "commit" BLOB NOT NULL,
    is_boundary INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (head, path)
) WITHOUT ROWID;
CREATE TABLE first_change (
    head INTEGER NOT NULL REFERENCES head ON DELETE CASCADE,
    path NOT NULL,
    "commit" BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (head, path)
) WITHOUT ROWID;
CREATE TABLE drift (
    head INTEGER NOT NULL REFERENCES head ON DELETE CASCADE,
    search TEXT NOT NULL,
    commits BLOB NOT NULL,     -- their ids, one after the other
    is_complete INTEGER NOT NULL,
    existed INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (head, search)
) WITHOUT ROWID;
CREATE TABLE together (        -- how often pages and their sources changed together
    head INTEGER PRIMARY KEY REFERENCES head ON DELETE CASCADE,
    tallies TEXT NOT NULL,     -- JSON
    checksum INTEGER NOT NULL
);

-- Facts of commits. They never change.
CREATE TABLE commit_entries (  -- one row for all paths: a row for each took three times as long
    "commit" BLOB PRIMARY KEY,
    entries TEXT NOT NULL,     -- JSON: mode and id by path, null where there was nothing
    checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE commit_record (
    id BLOB PRIMARY KEY,
    date INTEGER NOT NULL,
    author TEXT NOT NULL,
    subject TEXT NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;
-- The files that commits touched; `paths` are numbers of four bytes each, little-endian.
CREATE TABLE touched_path (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again: it stands in other rows
    path NOT NULL UNIQUE,
    checksum INTEGER NOT NULL
);
CREATE TABLE logged_change (
    "commit" BLOB PRIMARY KEY,
    paths BLOB NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;

-- What sources define and use, what pages mention, evidence of drift, and the last answer of
-- `ubp bind` (zlib).
-- Filled on demand only.
CREATE TABLE names (
    kind TEXT NOT NULL,
    blob BLOB NOT NULL,
    content BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (kind, blob)
) WITHOUT ROWID;

-- The facts of a page's Markdown, apart from its front matter: `ubp stale` needs none of them.
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    blob BLOB NOT NULL UNIQUE,
    title TEXT,                -- the front matter's, else the first H1's text
    aliases TEXT NOT NULL,     -- JSON, as are the next four
    addresses TEXT NOT NULL,   -- that its front matter sets for a site
    fields TEXT NOT NULL,      -- its front matter's scalars and lists of them
    sections TEXT NOT NULL,
    anchors TEXT NOT NULL,
    texts BLOB NOT NULL,       -- the keys of its chunks' texts (`ubp.index.embed.text`), in order
    links INTEGER NOT NULL,    -- how many it has
    chunks INTEGER NOT NULL,   -- how many it has
    checksum INTEGER NOT NULL
);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- the full text's: never given again
    page INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    number INTEGER NOT NULL,
    section INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (page, number)
);
CREATE TABLE link (
    page INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    anchor TEXT,
    link_type TEXT NOT NULL,
    label TEXT,
    line INTEGER NOT NULL,
    "column" INTEGER NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    context TEXT NOT NULL,
    section INTEGER NOT NULL,
    meant_type TEXT,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (page, number)
) WITHOUT ROWID;
-- Checksums of the names that a page's links request.
CREATE TABLE asked (
    name INTEGER NOT NULL,
    page INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (name, page)
) WITHOUT ROWID;
-- The words of chunks. Those of removed chunks stay until they are most of all: no text is kept,
-- from which the words to remove could be read.
CREATE VIRTUAL TABLE words USING fts5(
    title, headings, body, aliases, content='', tokenize='unicode61'
);
-- Bytes buffered before they are written and merged; SQLite's default is 1 MB.
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);
-- The same with the stems of English words, and without CJK, which has none.
CREATE VIRTUAL TABLE stems USING fts5(
    title, headings, body, aliases, content='', tokenize='porter unicode61'
);
INSERT INTO stems (stems, rank) VALUES ('hashsize', 8388608);
-- The vectors of texts, many in a row, so that a matrix is read without a loop. Keys (16 bytes
-- each) and vectors (`dimensions` numbers of one byte each) have the same order. Full blocks never
-- change; the last one of a model grows. A number is never reused.
CREATE TABLE vector_block (
    id INTEGER PRIMARY KEY,
    model BLOB NOT NULL,       -- its fingerprint
    dimensions INTEGER NOT NULL,
    size INTEGER NOT NULL,
    keys BLOB NOT NULL,
    vectors BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX model_block ON vector_block (model, id, size);
-- The fingerprints of models, by their folders, and the ids of large files of the work tree;
-- `stamp` changes with the files.
CREATE TABLE digest (
    path NOT NULL PRIMARY KEY,
    stamp TEXT NOT NULL,
    digest BLOB NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;

-- The link graph of one commit, for each work tree. A larger generation came later.
CREATE TABLE graph (
    id INTEGER PRIMARY KEY,
    git_dir NOT NULL UNIQUE,
    "commit" BLOB NOT NULL,
    scope TEXT NOT NULL,       -- the configuration under which links were resolved
    is_complete INTEGER NOT NULL, -- every page could be read when they were
    is_learned INTEGER NOT NULL DEFAULT 1, -- what its pages say is in the store
    generation INTEGER NOT NULL UNIQUE,
    checksum INTEGER NOT NULL
);
CREATE TABLE node (            -- whatever is no folder
    id INTEGER PRIMARY KEY,
    graph INTEGER NOT NULL REFERENCES graph ON DELETE CASCADE,
    path NOT NULL,
    blob BLOB,                 -- NULL: no page
    doc_id TEXT,
    is_unread INTEGER NOT NULL, -- it could not be read, so that it seems to say nothing
    checksum INTEGER NOT NULL,
    UNIQUE (graph, path)
);
CREATE INDEX unread_node ON node (graph) WHERE is_unread;
CREATE INDEX page_node ON node (blob, graph) WHERE blob IS NOT NULL;
CREATE TABLE name (            -- checksums of the names that a node answers to
    graph INTEGER NOT NULL REFERENCES graph ON DELETE CASCADE,
    name INTEGER NOT NULL,
    node INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (graph, name, node)
) WITHOUT ROWID;
CREATE TABLE edge (
    source INTEGER NOT NULL REFERENCES node ON DELETE CASCADE,
    number INTEGER NOT NULL,   -- the link's in its page
    bucket TEXT NOT NULL,
    target INTEGER,
    has_anchor INTEGER,        -- NULL: none is asked for
    candidates TEXT,           -- JSON
    checksum INTEGER NOT NULL,
    PRIMARY KEY (source, number)
) WITHOUT ROWID;
CREATE INDEX backlink ON edge (target) WHERE target IS NOT NULL;
"""

TABLES = (
    "facts",
    "listing",
    "head",
    "commit_entries",
    "commit_record",
    "logged_change",
    "touched_path",
    "names",
    "vector_block",
    "digest",
    "graph",
)
"""All tables but those of pages' Markdown, and those whose rows depend on another table's."""

# What the fingerprint of a model begins with whose vectors cost money or hours: they are removed
# with the texts that they are of, never to be made again.
PAID = b"paid"
IS_PAID = f"substr(model, 1, {len(PAID)}) = x'{PAID.hex()}'"

SHADOWS = tuple(
    f"{table}_{part}"
    for table in ("words", "stems")
    for part in ("data", "idx", "docsize", "config")
)
"""The tables that SQLite creates for `words` and `stems`."""


class Checked(NamedTuple):
    """What the checksum of a table's row is of: its columns, and what they mean elsewhere.

    `joined` are the other tables of these columns: a row that refers to another one by its number
    has a checksum of what that number stands for.
    """

    columns: tuple[str, ...]
    joined: str = ""


_OF_HEAD = " JOIN head ON head.id = {}.head"
_OF_PAGE = " JOIN page ON page.id = {}.page"

CHECKED = {
    "facts": Checked(("blob", "keys", "is_bound", "content")),
    "listing": Checked(("id", "git_dir", '"commit"', "scope")),
    "entry": Checked(("listing", "path", "mode", "id", "is_document")),
    "last_change": Checked(
        ('head."commit"', "path", '"commit"', "is_boundary"), _OF_HEAD.format("last_change")
    ),
    "first_change": Checked(('head."commit"', "path", '"commit"'), _OF_HEAD.format("first_change")),
    "drift": Checked(
        ('head."commit"', "search", "commits", "is_complete", "existed"),
        _OF_HEAD.format("drift"),
    ),
    "together": Checked(('head."commit"', "tallies"), _OF_HEAD.format("together")),
    "commit_entries": Checked(('"commit"', "entries")),
    "commit_record": Checked(("id", "date", "author", "subject")),
    "touched_path": Checked(("id", "path")),
    "logged_change": Checked(('"commit"', "paths")),
    "names": Checked(("kind", "blob", "content")),
    "page": Checked(
        (
            "blob",
            "title",
            "aliases",
            "addresses",
            "fields",
            "sections",
            "anchors",
            "texts",
            "links",
            "chunks",
        )
    ),
    "chunk": Checked(
        (
            "page.blob",
            "id",
            "number",
            "section",
            "line_start",
            "line_end",
            "byte_start",
            "byte_end",
            "token_count",
        ),
        _OF_PAGE.format("chunk"),
    ),
    "link": Checked(
        (
            "page.blob",
            "number",
            "kind",
            "target",
            "anchor",
            "link_type",
            "label",
            "line",
            '"column"',
            "byte_start",
            "byte_end",
            "context",
            "section",
            "meant_type",
        ),
        _OF_PAGE.format("link"),
    ),
    "asked": Checked(("name", "page")),
    "vector_block": Checked(("id", "model", "dimensions", "size", "keys", "vectors")),
    "digest": Checked(("path", "stamp", "digest")),
    "graph": Checked(("id", "git_dir", '"commit"', "scope", "is_complete")),
    "node": Checked(("id", "graph", "path", "blob", "doc_id", "is_unread")),
    "name": Checked(("graph", "name", "node")),
    "edge": Checked(
        (
            "source.graph",
            "source.path",
            "number",
            "bucket",
            "target.path",
            "has_anchor",
            "candidates",
        ),
        " JOIN node AS source ON source.id = edge.source"
        " LEFT JOIN node AS target ON target.id = edge.target",
    ),
}
"""The tables whose rows have a checksum, in their column of that name."""


@cache
def intact(table: str, name: str = "") -> str:
    """Return the condition that a row's checksum is right; it raises where it is not.

    `name` is the table's in the query, if another one. SQLite gives it the value that a column is
    compared with (`column = ?`) for the column's own, and in any order: where such a condition is
    no index's, write it among the columns that are selected.
    """
    values = ", ".join(
        column if "." in column else f"{name or table}.{column}"
        for column in CHECKED[table].columns
    )
    return f"intact({name or table}.checksum, '{table}', {values})"


def insertion(table: str, verb: str = "INSERT") -> str:
    """Return the statement that inserts a row with its checksum, all columns that it is of."""
    columns = CHECKED[table].columns
    marks = ", ".join(f"?{number}" for number in range(1, len(columns) + 1))
    return (
        f"{verb} INTO {table} ({', '.join(columns)}, checksum)"
        f" VALUES ({marks}, checksum('{table}', {marks}))"
    )
