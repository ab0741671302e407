-- How often a page has a link, as it is written: search follows no links of a page with very many.
-- 1 for boards that an older version of UBP has pushed.
alter table edge add column links int not null default 1 check (links > 0);
