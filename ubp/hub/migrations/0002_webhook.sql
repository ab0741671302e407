-- What forges said has changed; the worker asks them about it. path '': about several repositories.
create table webhook (
    id bigint generated always as identity primary key,
    host text not null,
    path text not null,
    at timestamptz not null default now()
);
