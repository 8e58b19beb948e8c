UPDATE store_meta SET value = '5' WHERE name = 'min_binary';

CREATE TABLE job (
    id          TEXT COLLATE "C" PRIMARY KEY,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    input       TEXT NOT NULL,
    result      TEXT NOT NULL,
    error       TEXT NOT NULL,
    done        BIGINT NOT NULL,
    total       BIGINT NOT NULL,
    canceled    BOOLEAN NOT NULL,
    worker      TEXT NOT NULL,
    actor       TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    started_at  BIGINT NOT NULL,
    beat_at     BIGINT NOT NULL,
    finished_at BIGINT NOT NULL
);
CREATE INDEX job_open ON job (finished_at, created_at, id);
CREATE INDEX job_in_order ON job (created_at, id);

-- counts the writes of what catalogs publish; a release tells which it is of
INSERT INTO counter (name, value) VALUES ('revision', 0);
ALTER TABLE release ADD COLUMN revision BIGINT NOT NULL DEFAULT -1;
ALTER TABLE release ADD COLUMN preview BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE release ADD COLUMN added BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN removed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release_product ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
