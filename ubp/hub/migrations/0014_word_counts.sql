-- How many chunks of a repository contain each of its words: to count a common one in a million
-- chunks takes a second. A row has the words whose hashes begin with a byte, each as eight bytes of
-- its SHA-256 and four of the number.
create table word_count (
    repository int not null references repository on delete cascade,
    is_stem boolean not null,
    bucket smallint not null,
    counts bytea not null,
    primary key (repository, is_stem, bucket)
);
-- For who may read most repositories: rows beside each other, instead of one in each place.
create index word_count_bucket on word_count (is_stem, bucket, repository);

-- The version of the texts whose words were counted; programs that know nothing of it leave it.
alter table search_state add counted bigint not null default -1;

-- Rows as long as those of most chunks stay whole: what is elsewhere takes as long to fetch as all
-- the rest of a search. Those that are there already are as they are.
alter table chunk set (toast_tuple_target = 4080);
