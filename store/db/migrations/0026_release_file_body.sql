-- The text of a file, which was a document before.
ALTER TABLE release_file ADD COLUMN body TEXT NOT NULL DEFAULT '';
