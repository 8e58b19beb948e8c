-- A catalog that was rolled back is held at its release: only a release whose
-- number is above held_below is served in its place. rolled_back_from is the
-- highest release it served before. A publication of an older binary ends it.
ALTER TABLE catalog ADD COLUMN held_below BIGINT NOT NULL DEFAULT 0;
ALTER TABLE catalog ADD COLUMN rolled_back_from BIGINT NOT NULL DEFAULT 0;

-- Stock records that were deleted. Their ledgers stay, with so many lines. A
-- record that is created again goes on from the revision. Older binaries, beside
-- newer ones, keep a deleted record in memory until they read all stock again.
CREATE TABLE stock_deleted (
    product_id TEXT COLLATE "C" PRIMARY KEY,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    lines      BIGINT NOT NULL
) /* WITHOUT ROWID */;
