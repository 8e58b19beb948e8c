-- products of a whole release, a few of one node side by side (block.go); older
-- binaries read release_row, which has them too
CREATE TABLE release_block (
    id   BIGINT /* ROWID */ PRIMARY KEY,
    body BYTEA NOT NULL
);
