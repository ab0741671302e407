-- What migration 14 made: no program since migration 16 reads or writes it. The column `counted` of
-- `search_state` is still written by programs of before; a later migration may drop it.
drop table word_count;
