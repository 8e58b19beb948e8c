-- The version that a lane had before, so that whoever follows it sees whether
-- what was followed is still so. Older binaries leave it as it is, and read all
-- stock again beside newer ones.
ALTER TABLE change ADD COLUMN follows BIGINT NOT NULL DEFAULT 0;
ALTER TABLE stock_change ADD COLUMN follows BIGINT NOT NULL DEFAULT 0;
