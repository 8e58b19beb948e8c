-- The synonyms that searches find products by.
CREATE TABLE synonym (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX synonym_in_order ON synonym (sequence, id);
