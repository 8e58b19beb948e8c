UPDATE store_meta SET value = '11' WHERE name = 'min_binary';

-- revision goes up with each change of the row, so that of two states of it
-- the newer one can be told.
ALTER TABLE stock ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

-- Whose stock a write changed: the ids of products with spaces between them,
-- or * for more than are worth naming. The version is the lane's in change.
CREATE TABLE stock_change (
    lane     TEXT COLLATE "C" NOT NULL,
    version  BIGINT NOT NULL,
    products TEXT NOT NULL,
    PRIMARY KEY (lane, version)
) /* WITHOUT ROWID */;
