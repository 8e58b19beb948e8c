-- When this version of a product or node was first published in its catalog, in
-- microseconds; 0 is with its release. Rows of products have it too, as a line.
-- Older binaries show the release's time, and do not inherit it.
ALTER TABLE release_product ADD COLUMN published_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release_node ADD COLUMN published_at BIGINT NOT NULL DEFAULT 0;
