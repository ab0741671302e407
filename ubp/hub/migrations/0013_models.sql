-- What the first vectors of a server's model have taught: until a row is here, nothing is sent to
-- it, and no search uses it.
create table search_model (
    fingerprint bytea primary key,
    dimensions int not null,
    slope float8 not null,  -- how its cosines are read as those of the bundled model
    shift float8 not null
);
