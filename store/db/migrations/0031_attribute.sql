-- The attributes of one's own that products have values of.
CREATE TABLE attribute (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX attribute_in_order ON attribute (sequence, id);
