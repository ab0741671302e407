-- Which chunks of a repository contain each of its words, and how often. To rank common words by the
-- rows of ten thousand chunks took most of a search, and left others out. `ubp.hub.postings` has the
-- format. `word_count` is read by programs that know nothing of it, as long as `counted` says that
-- it is up to date, which no push to this one does; a later migration may drop both.
create table posting (
    repository int not null references repository on delete cascade,
    is_stem boolean not null,
    bucket smallint not null,
    lists bytea not null,
    primary key (repository, is_stem, bucket)
);
alter table posting alter column lists set storage external;
-- For readers of most repositories: the rows of a word lie beside each other in this index.
create index posting_bucket on posting (is_stem, bucket, repository);

-- The version of the texts whose words were listed.
alter table search_state add listed bigint not null default -1;
alter table search_state alter listed set default 0;  -- without chunks there is nothing to list
