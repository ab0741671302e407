-- Names of repositories ignore case, as forges do; which branch is the default one is remembered,
-- since it may be pushed after the forge was asked.
alter table repository add column default_branch text;  -- null: the forge was not asked
create index repository_lower_name on repository (lower(name));

-- The repository that a name means: the one that has it, else the one that had it.
create function named(asked text) returns int
language sql stable as $$
    select coalesce(
        (select id from repository where lower(name) = lower($1)
         order by removed_at is not null, name <> $1, id limit 1),
        (select repository from former_name where lower(name) = lower($1)
         order by name <> $1, name limit 1))
$$;
