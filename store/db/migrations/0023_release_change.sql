-- What differs between a release and the one that its catalog served when it was
-- published: packed keys (internal/dependency). Older binaries write none.
CREATE TABLE release_change (
    release_id BIGINT NOT NULL,
    against_id BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, against_id)
);
-- The release since which a list, or all nodes, are the same; 0 is the release
-- itself. nodes_at is when that release was published, in microseconds.
ALTER TABLE release_list ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN nodes_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN nodes_at BIGINT NOT NULL DEFAULT 0;
