-- A catalog that was rolled back is held at its release: only a release whose
-- number is above held_below is served in its place. rolled_back_from is the
-- highest release it served before. A publication of an older binary ends it.
ALTER TABLE catalog ADD COLUMN held_below BIGINT NOT NULL DEFAULT 0;
ALTER TABLE catalog ADD COLUMN rolled_back_from BIGINT NOT NULL DEFAULT 0;
