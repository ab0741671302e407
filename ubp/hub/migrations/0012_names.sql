-- The words of titles, headings and aliases alone: those of the body are in far more chunks, and to
-- look into each of these for the column of a word takes seconds in a million chunks.
set local statement_timeout = 0;
create index chunk_names on chunk using gin (ts_filter(words, '{a,d}')) with (fastupdate = off)
    where number = 0;
create index chunk_name_stems on chunk using gin (ts_filter(stems, '{a,d}'))
    with (fastupdate = off) where number = 0;
create index chunk_headings on chunk using gin (ts_filter(words, '{a,b,d}'))
    with (fastupdate = off);
create index chunk_heading_stems on chunk using gin (ts_filter(stems, '{a,b,d}'))
    with (fastupdate = off);
