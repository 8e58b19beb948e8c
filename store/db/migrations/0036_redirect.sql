-- Paths that lead elsewhere, and slugs that published products and nodes had before.
CREATE TABLE redirect (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX redirect_in_order ON redirect (sequence, id);

-- release_id is the release in which the product or node has another slug.
CREATE TABLE slug_change (
    catalog_id TEXT COLLATE "C" NOT NULL,
    slug       TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    release_id BIGINT NOT NULL,
    target_id  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (catalog_id, slug, kind, release_id, target_id)
);
CREATE INDEX slug_change_by_release ON slug_change (catalog_id, release_id);
