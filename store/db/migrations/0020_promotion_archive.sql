-- Deleted promotions whose usages are kept. The usages have the promotion's
-- number. No id is here twice, unless an older binary made a promotion of an id
-- that was here. The codes of every epoch are deleted in batches.
CREATE TABLE promotion_archive (
    number      BIGINT NOT NULL PRIMARY KEY,
    id          TEXT COLLATE "C" NOT NULL,
    epoch       BIGINT NOT NULL,
    archived_at BIGINT NOT NULL,
    archived_by TEXT NOT NULL,
    body        TEXT NOT NULL
);
CREATE INDEX promotion_archive_by_id ON promotion_archive (id, number);
