UPDATE store_meta SET value = '2' WHERE name = 'min_binary';

CREATE TABLE release (
    id            BIGINT PRIMARY KEY,
    catalog_id    TEXT COLLATE "C" NOT NULL,
    state         TEXT NOT NULL,
    locale        TEXT NOT NULL,
    locales       TEXT NOT NULL,
    products      BIGINT NOT NULL,
    published_at  BIGINT NOT NULL,
    superseded_at BIGINT NOT NULL,
    touched_at    BIGINT NOT NULL
);
CREATE INDEX release_of_catalog ON release (catalog_id, id);

CREATE TABLE document (
    id   BIGINT PRIMARY KEY,
    hash BYTEA NOT NULL,
    body TEXT NOT NULL
);

CREATE TABLE document_hash (
    hash        BYTEA NOT NULL PRIMARY KEY,
    document_id BIGINT NOT NULL
) /* WITHOUT ROWID */;

CREATE TABLE release_product (
    release_id BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    product_id TEXT COLLATE "C" NOT NULL,
    documents  TEXT NOT NULL,
    crumbs     BIGINT NOT NULL,
    PRIMARY KEY (release_id, ordinal)
) /* WITHOUT ROWID */;

CREATE TABLE release_place (
    release_id BIGINT NOT NULL,
    product_id TEXT COLLATE "C" NOT NULL,
    ordinal    BIGINT NOT NULL,
    PRIMARY KEY (release_id, product_id)
) /* WITHOUT ROWID */;

CREATE TABLE release_price (
    release_id   BIGINT NOT NULL,
    ordinal      BIGINT NOT NULL,
    currency     TEXT COLLATE "C" NOT NULL,
    pricebook_id TEXT NOT NULL,
    amount       BIGINT NOT NULL,
    includes_tax BOOLEAN NOT NULL,
    PRIMARY KEY (release_id, ordinal, currency)
) /* WITHOUT ROWID */;

CREATE TABLE release_node (
    release_id   BIGINT NOT NULL,
    ordinal      BIGINT NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    slug         TEXT NOT NULL,
    description  TEXT NOT NULL,
    hierarchy_id TEXT NOT NULL,
    parent_id    TEXT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (release_id, ordinal)
) /* WITHOUT ROWID */;

CREATE TABLE release_file (
    release_id  BIGINT NOT NULL,
    file_id     TEXT COLLATE "C" NOT NULL,
    document_id BIGINT NOT NULL,
    PRIMARY KEY (release_id, file_id)
) /* WITHOUT ROWID */;

CREATE TABLE release_list (
    release_id BIGINT NOT NULL,
    list       TEXT COLLATE "C" NOT NULL,
    total      BIGINT NOT NULL,
    curated    BYTEA NOT NULL,
    PRIMARY KEY (release_id, list)
) /* WITHOUT ROWID */;

CREATE TABLE release_chunk (
    release_id BIGINT NOT NULL,
    list       TEXT COLLATE "C" NOT NULL,
    sort       TEXT COLLATE "C" NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, list, sort, chunk)
) /* WITHOUT ROWID */;

CREATE TABLE release_index (
    release_id BIGINT NOT NULL,
    attribute  TEXT COLLATE "C" NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, attribute, chunk)
) /* WITHOUT ROWID */;
