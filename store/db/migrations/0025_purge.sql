-- What the purge hook last saw of the shop (one row), and the calls that it still has to make, one row
-- for each catalog; the id '' is for all catalogs. Times are by the database's clock.
CREATE TABLE purge_seen (
    id   BIGINT PRIMARY KEY,
    seen TEXT NOT NULL
);
CREATE TABLE purge_call (
    catalog_id   TEXT COLLATE "C" PRIMARY KEY,
    release_id   BIGINT NOT NULL,
    revision     BIGINT NOT NULL,
    calls        BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL,
    leased_until BIGINT NOT NULL
) /* WITHOUT ROWID */;
