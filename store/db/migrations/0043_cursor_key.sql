-- The secret by which all servers sign cursors. It is as old as the database: backups and copies have it, so cursors go
-- on in them.
INSERT INTO store_meta (name, value)
VALUES ('cursor_key', REPLACE(CAST(gen_random_uuid() AS TEXT) || CAST(gen_random_uuid() AS TEXT), '-', ''))
ON CONFLICT (name) DO NOTHING;

-- Whether the release was served and rolled back since. Cursors do not lead into it.
ALTER TABLE release ADD COLUMN rolled_back BOOLEAN NOT NULL DEFAULT FALSE;
