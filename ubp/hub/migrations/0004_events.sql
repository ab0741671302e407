-- What is behind the tip of another repository, and what is still to be sent about it.

-- How many commits changed a file from one push to the next; null: unknown.
alter table event add column commits int;

-- Tips that have changed since the worker looked at what is behind them.
create table changed_tip (
    ref int primary key references ref on delete cascade
);

-- References that are behind, or whose source is gone: each was announced once.
create table behind (
    ref int not null references ref on delete cascade,
    page text not null,
    source int not null references repository on delete cascade,
    path text not null,
    fragment text not null,
    pin text not null,
    at timestamptz not null default now(),
    primary key (ref, page, source, path, fragment, pin)
);
create index behind_source on behind (source);

-- What a webhook of the configuration has not taken yet, by the numbers of repositories: who may
-- read what is looked up when it is sent.
create table delivery (
    id bigint generated always as identity primary key,
    hook text not null,
    items jsonb not null,
    at timestamptz not null default now(),
    due_at timestamptz not null default now(),
    tries int not null default 0
);
