-- Who sweeps what is no longer needed, of all servers, and when that was last
-- done to the end; the times are the database's own.
CREATE TABLE sweep (
    name     TEXT COLLATE "C" PRIMARY KEY,
    worker   TEXT NOT NULL,
    beat_at  BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    swept    BIGINT NOT NULL
);
