UPDATE store_meta SET value = '4' WHERE name = 'min_binary';

CREATE TABLE release_word (
    release_id BIGINT NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, chunk)
) /* WITHOUT ROWID */;

CREATE TABLE release_facet (
    release_id BIGINT NOT NULL,
    attribute  TEXT COLLATE "C" NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, attribute, chunk)
) /* WITHOUT ROWID */;
