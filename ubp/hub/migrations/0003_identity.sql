-- A repository is the one with its number at the forge, whatever its name; a name may be reused.

-- Names that repositories had before, until another repository has them.
create table former_name (
    name text primary key,
    repository int not null references repository on delete cascade
);
create index former_name_repository on former_name (repository);

-- Of rows with the same number, which the first versions could make, the one that is read counts.
update repository r set forge_id = null
where exists (select from repository o
              where o.forge_id = r.forge_id and split_part(o.name, '/', 1) = split_part(r.name, '/', 1)
                and (o.removed_at is null, o.id) > (r.removed_at is null, r.id));
create unique index repository_forge_id on repository (split_part(name, '/', 1), forge_id);

alter table repository drop column renamed_to;  -- never written for a name that anybody uses

create or replace function readable(reader text) returns table (repository int)
language sql stable as $$
    select r.id from repository r
    where r.removed_at is null
      and (r.visibility = 'public'
           or r.visibility = 'internal' and $1 not like 'job:%'  -- may run the code of a fork
           or $1 = '*'
           or $1 = 'ci:' || r.name || '#' || r.forge_id
           or exists (select from grants g where g.repository = r.id and g.reader = $1))
$$;

-- When the worker asks the forge: later, after it failed.
alter table webhook add column due_at timestamptz not null default now();
