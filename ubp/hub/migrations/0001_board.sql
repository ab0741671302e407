-- The boards of repositories, as `ubp push` sends them: no text of any page.

create table repository (
    id int generated always as identity primary key,
    name text not null unique,  -- github.com/acme/api
    visibility text not null default 'private' check (visibility in ('public', 'internal', 'private')),
    tip int,  -- the ref that counts for other repositories
    forge_id text,  -- the forge's own number, which renaming does not change
    archived boolean not null default false,
    renamed_to text,
    removed_at timestamptz,
    created_at timestamptz not null default now()
);

create table ref (
    id int generated always as identity primary key,
    repository int not null references repository on delete cascade,
    name text not null,  -- refs/heads/main
    commit bytea,  -- null until the first push is complete
    run bigint,  -- of the CI; with `attempt` the order of pushes
    attempt bigint not null default 0,
    pushed_at timestamptz,
    pieces int not null default 0,
    unique (repository, name)
);
alter table repository add foreign key (tip) references ref on delete set null;

create table piece (
    ref int not null references ref on delete cascade,
    number int not null,
    digest bytea not null,
    primary key (ref, number)
);

-- Pieces that were sent for a push that is not complete yet.
create table upload (
    repository int not null references repository on delete cascade,
    digest bytea not null,
    body bytea not null,
    at timestamptz not null default now(),
    primary key (repository, digest)
);

create table file (
    ref int not null references ref on delete cascade,
    path text not null,
    piece int not null,
    digest bytea not null,  -- of all that was sent about it
    oid bytea not null,
    changed bytea,
    changed_at timestamptz,
    primary key (ref, path)
);
create index file_piece on file (ref, piece);

create table page (
    ref int not null,
    path text not null,
    level text not null,
    is_record boolean not null,
    owners text[] not null,
    primary key (ref, path),
    foreign key (ref, path) references file on delete cascade
);

create table reference (
    ref int not null,
    page text not null,
    number int not null,
    repository text not null,  -- '': the page's own
    path text not null,
    fragment text not null,
    pin text,
    verdict text not null,
    level text not null,
    baseline_kind text not null,
    baseline text,
    current text,
    since timestamptz,
    commits int not null,
    note text,
    primary key (ref, page, number),
    foreign key (ref, page) references page on delete cascade
);
create index reference_source on reference (repository, path text_pattern_ops);

create table edge (
    ref int not null,
    page text not null,
    target text not null,
    type text not null,
    primary key (ref, page, target, type),
    foreign key (ref, page) references page on delete cascade
);
create index edge_target on edge (ref, target);

-- Blobs whose definitions or sections a parser has looked for; those that it could not read have
-- is_read false.
create table parsed (
    repository int not null references repository on delete cascade,
    blob bytea not null,
    parser text not null,
    is_read boolean not null,
    at timestamptz not null default now(),
    primary key (repository, blob, parser)
);

create table part (
    repository int not null,
    blob bytea not null,
    parser text not null,
    number int not null,
    names bytea[] not null,
    digest bytea not null,
    nameless bytea not null,
    primary key (repository, blob, parser, number),
    foreign key (repository, blob, parser) references parsed on delete cascade
);

-- What became of files (kind 'file': blob ids) and of pages (kind 'page': levels), by month.
create table event (
    at timestamptz not null default now(),
    id bigint generated always as identity,
    ref int not null references ref on delete cascade,
    kind text not null check (kind in ('file', 'page')),
    path text not null,
    before text,
    after text,
    commit bytea not null,
    primary key (at, id)
) partition by range (at);
create index event_ref on event (ref, kind, path, at);

-- Who may read which repository: 'github.com/ann', or 'client:ISSUER SUBJECT'.
create table grants (
    repository int not null references repository on delete cascade,
    reader text not null,
    source text not null default 'forge',
    at timestamptz not null default now(),
    primary key (repository, reader, source)
);
create index grants_reader on grants (reader, repository);

-- One row a call. The question is kept only as a digest with a key that is not in the database.
create table audit (
    at timestamptz not null default now(),
    id bigint generated always as identity,
    reader text not null,
    method text not null,
    question bytea,
    status int not null,
    milliseconds int not null,
    primary key (at, id)
) partition by range (at);

create function readable(reader text) returns table (repository int)
language sql stable as $$
    select r.id from repository r
    where r.removed_at is null
      and (r.visibility = 'public'
           or r.visibility = 'internal' and $1 not like 'job:%'  -- may run the code of a fork
           or $1 = '*'
           or $1 = 'ci:' || r.name
           or exists (select from grants g where g.repository = r.id and g.reader = $1))
$$;

-- The partition of a table for the month of a time, made where it does not exist.
create function make_partition(parent text, moment timestamptz) returns void
language plpgsql as $$
declare
    first timestamptz := date_trunc('month', moment at time zone 'UTC') at time zone 'UTC';
    next timestamptz := (date_trunc('month', moment at time zone 'UTC') + interval '1 month')
        at time zone 'UTC';
    name text := parent || '_' || to_char(moment at time zone 'UTC', 'YYYY_MM');
begin
    if to_regclass(quote_ident(name)) is null then
        perform pg_advisory_xact_lock(hashtext(name));
        execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
                       name, parent, first, next);
    end if;
end
$$;

create function drop_partition(name text) returns void
language plpgsql as $$
begin
    execute format('drop table %I', name);
end
$$;
