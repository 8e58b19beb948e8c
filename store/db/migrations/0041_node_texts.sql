-- The texts of a node in other languages, JSON by language; empty for none.
ALTER TABLE release_node ADD COLUMN texts TEXT NOT NULL DEFAULT '';
