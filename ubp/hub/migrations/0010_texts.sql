-- The texts of the pages at the tips of repositories, as `ubp push --texts` sends them, and what is
-- searched in them. A text that the tip has no more is deleted with the push that says so.
-- The repository is the first column of each key, so that the tables can be distributed by it;
-- what is counted over all repositories is in `search_state`.

-- One row a repository: it is locked while its texts change, and its version changes with them.
create table search_state (
    repository int primary key references repository on delete cascade,
    version bigint not null default 0,
    chunks bigint not null default 0,
    words bigint not null default 0,  -- of all chunks
    stems bigint not null default 0,
    last_id bigint not null default 0  -- that any chunk of the repository ever had
);

create table text (
    repository int not null references repository on delete cascade,
    blob bytea not null,
    format int not null,
    model bytea,  -- the fingerprint of the one that made the vectors
    facts text not null,
    fields text not null,
    sections text not null,
    chunks text not null,  -- their places in the body
    body bytea not null,  -- compressed
    primary key (repository, blob)
);
alter table text alter column body set storage external;

create table chunk (
    repository int not null,
    blob bytea not null,
    number int not null,
    id bigint not null,  -- rises within a repository, in the order of its pushes
    length int not null,  -- in words
    stem_length int not null,
    vector bytea,
    words tsvector not null,
    stems tsvector not null,
    primary key (repository, blob, number),
    foreign key (repository, blob) references text on delete cascade
);
create index chunk_id on chunk (repository, id);
create index chunk_words on chunk using gin (words) with (fastupdate = off);
create index chunk_stems on chunk using gin (stems) with (fastupdate = off);

-- Texts whose push is not complete yet, with what was read from them.
create table staged_text (
    repository int not null references repository on delete cascade,
    blob bytea not null,
    format int not null,
    model bytea,
    facts text not null,
    fields text not null,
    sections text not null,
    chunks text not null,
    body bytea not null,
    at timestamptz not null default now(),
    primary key (repository, blob)
);
alter table staged_text alter column body set storage external;

create table staged_chunk (
    repository int not null,
    blob bytea not null,
    number int not null,
    length int not null,
    stem_length int not null,
    vector bytea,
    words tsvector not null,
    stems tsvector not null,
    primary key (repository, blob, number),
    foreign key (repository, blob) references staged_text on delete cascade
);
