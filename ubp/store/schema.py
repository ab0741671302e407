"""What `knowledge.db` holds. Derived data: a change here raises FORMAT, nothing is migrated."""

FORMAT = 1
"""`PRAGMA user_version`. Raise it with the schema, and with what `parse_page` or `is_document`
answer for the same bytes and paths: every database of another format is rebuilt from nothing."""

# Ids are 20 bytes. A path is TEXT, or a BLOB where its bytes are no UTF-8 (`values.py`).
SCHEMA = """
-- What a page's bytes say under the front matter keys that were asked for. Never changes.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    blob BLOB NOT NULL,
    keys TEXT NOT NULL,
    is_bound INTEGER NOT NULL, -- it has references or problems, so that `ubp stale` wants it
    content TEXT NOT NULL,
    UNIQUE (blob, keys)
);
CREATE INDEX bound_facts ON facts (keys, blob) WHERE is_bound;

-- The files of one commit, for each work tree. A larger generation was made or moved later.
CREATE TABLE listing (
    id INTEGER PRIMARY KEY,
    git_dir NOT NULL UNIQUE,
    "commit" BLOB NOT NULL,
    scope TEXT NOT NULL,       -- the configuration under which `is_document` was set
    complete_for TEXT,         -- the front matter keys under which every document has facts
    generation INTEGER NOT NULL UNIQUE
);
CREATE TABLE entry (
    listing INTEGER NOT NULL REFERENCES listing ON DELETE CASCADE,
    path NOT NULL,
    mode INTEGER NOT NULL,
    id BLOB NOT NULL,
    is_document INTEGER NOT NULL,
    PRIMARY KEY (listing, path)
) WITHOUT ROWID;
CREATE INDEX document ON entry (listing, id) WHERE is_document;

-- What history says when it is walked from a commit. A larger id was asked about later.
CREATE TABLE head (
    id INTEGER PRIMARY KEY,
    "commit" BLOB NOT NULL UNIQUE
);
CREATE TABLE last_change (
    head INTEGER NOT NULL REFERENCES head ON DELETE CASCADE,
    path NOT NULL,
    "commit" BLOB NOT NULL,
    is_boundary INTEGER NOT NULL,
    PRIMARY KEY (head, path)
) WITHOUT ROWID;
CREATE TABLE drift (
    head INTEGER NOT NULL REFERENCES head ON DELETE CASCADE,
    search TEXT NOT NULL,
    commits BLOB NOT NULL,     -- their ids, one after the other
    is_complete INTEGER NOT NULL,
    existed INTEGER NOT NULL,
    PRIMARY KEY (head, search)
) WITHOUT ROWID;

-- What commits say. Never changes.
CREATE TABLE past_entry (
    "commit" BLOB NOT NULL,
    path NOT NULL,
    mode INTEGER,              -- NULL: nothing stood there
    id BLOB,
    PRIMARY KEY ("commit", path)
) WITHOUT ROWID;
CREATE TABLE commit_record (
    id BLOB PRIMARY KEY,
    date INTEGER NOT NULL,
    author TEXT NOT NULL,
    subject TEXT NOT NULL
) WITHOUT ROWID;
"""

TABLES = ("facts", "listing", "head", "past_entry", "commit_record")
"""All but those that go with a row of another table."""
