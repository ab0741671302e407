-- How many chunks of a repository contain each of its words: to count a common one in a million
-- chunks takes a second. Of each word `counts` has the first
-- eight bytes of its SHA-256 and four of the number; no program since migration 16 writes them.
create table word_count (
    repository int not null references repository on delete cascade,
    is_stem boolean not null,
    bucket smallint not null,
    counts bytea not null,
    primary key (repository, is_stem, bucket)
);
-- For readers of most repositories: the rows of a word lie beside each other in this index.
create index word_count_bucket on word_count (is_stem, bucket, repository);

-- The version of the texts whose words were counted; programs that know nothing of it leave it.
alter table search_state add counted bigint not null default -1;

-- Most rows stay whole: fetching what is stored elsewhere takes as long as all the rest of a search.
-- Rows that are there already stay as they are.
alter table chunk set (toast_tuple_target = 4080);
