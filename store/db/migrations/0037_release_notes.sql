-- Who published a release, its label and note, the bytes of its rows, since when it is served (0 if it never was), and
-- whether it is retained, so that no sweep deletes it.
ALTER TABLE release ADD COLUMN actor TEXT NOT NULL DEFAULT '';
ALTER TABLE release ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE release ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE release ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN served_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN retained BOOLEAN NOT NULL DEFAULT FALSE;
