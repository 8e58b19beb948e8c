UPDATE store_meta SET value = '9' WHERE name = 'min_binary';

-- what was written of what catalogs publish, and in which revision: complete
-- for revisions above the counter tracked_from, and bounded
CREATE TABLE authored_change (
    revision BIGINT NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    id       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (revision, kind, id)
) /* WITHOUT ROWID */;
INSERT INTO counter (name, value) VALUES ('tracked', 0);
INSERT INTO counter (name, value) SELECT 'tracked_from', value FROM counter WHERE name = 'revision';

-- the number of the release from which on documents without a reader are looked for
INSERT INTO counter (name, value) VALUES ('documents_due', 0);

-- a delta holds what differs from its base, at ordinals from first_ordinal on
ALTER TABLE release ADD COLUMN base_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN first_ordinal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN ordinals BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN format BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release_list ADD COLUMN held_by BIGINT NOT NULL DEFAULT 0;
UPDATE release SET ordinals = products;
UPDATE release_list SET held_by = release_id;
