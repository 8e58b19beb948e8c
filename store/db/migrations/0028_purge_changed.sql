-- What changed, packed as in release_change, for the call with this revision. A call of an older binary
-- has another revision, and purges the whole catalog.
ALTER TABLE purge_call ADD COLUMN changed BYTEA NOT NULL DEFAULT '';
ALTER TABLE purge_call ADD COLUMN changed_revision BIGINT NOT NULL DEFAULT -1;
