CREATE TABLE store_meta (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO store_meta (name, value) VALUES ('min_binary', '1');

CREATE TABLE change (
    topic   TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO change (topic, version) VALUES ('settings', 1), ('catalog', 1), ('keys', 1);

CREATE TABLE counter (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counter (name, value) VALUES ('release', 0), ('sequence', 0), ('stock', 0);

CREATE TABLE settings (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    page_length BIGINT NOT NULL CHECK (page_length BETWEEN 1 AND 100),
    currency    TEXT NOT NULL,
    locale      TEXT NOT NULL
);
INSERT INTO settings (id, page_length, currency, locale) VALUES (1, 25, 'USD', 'en');

CREATE TABLE file (
    id   TEXT COLLATE "C" PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE product (
    id            TEXT COLLATE "C" PRIMARY KEY,
    live          BOOLEAN NOT NULL,
    parent_id     TEXT COLLATE "C" NOT NULL,
    component_ids TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    body          TEXT NOT NULL
);

CREATE TABLE hierarchy (
    id         TEXT COLLATE "C" PRIMARY KEY,
    sequence   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX hierarchy_in_order ON hierarchy (sequence, id);

CREATE TABLE node (
    id           TEXT COLLATE "C" PRIMARY KEY,
    hierarchy_id TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX node_in_order ON node (sequence, id);
CREATE INDEX node_of_hierarchy ON node (hierarchy_id, id);

CREATE TABLE node_product (
    node_id    TEXT COLLATE "C" NOT NULL,
    attached   BIGINT NOT NULL,
    product_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (node_id, attached, product_id)
) /* WITHOUT ROWID */;

CREATE TABLE pricebook (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX pricebook_in_order ON pricebook (sequence, id);

CREATE TABLE price (
    id           TEXT COLLATE "C" PRIMARY KEY,
    pricebook_id TEXT COLLATE "C" NOT NULL,
    sku          TEXT COLLATE "C" NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX price_of_sku ON price (sku, pricebook_id, id);

CREATE TABLE price_modifier (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX price_modifier_in_order ON price_modifier (sequence, id);

CREATE TABLE catalog (
    id         TEXT COLLATE "C" PRIMARY KEY,
    created_at BIGINT NOT NULL,
    sequence   BIGINT NOT NULL,
    release_id BIGINT,
    body       TEXT NOT NULL
);
CREATE INDEX catalog_in_order ON catalog (sequence, id);

CREATE TABLE catalog_rule (
    id         TEXT COLLATE "C" PRIMARY KEY,
    catalog_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    sequence   BIGINT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX catalog_rule_in_order ON catalog_rule (sequence, id);

CREATE TABLE stock (
    product_id TEXT COLLATE "C" PRIMARY KEY,
    available  BIGINT NOT NULL CHECK (available >= 0),
    allocated  BIGINT NOT NULL CHECK (allocated >= 0),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CHECK (available + allocated <= 2147483647)
);
CREATE INDEX stock_by_created ON stock (created_at, product_id);
CREATE INDEX stock_by_updated ON stock (updated_at, product_id);

CREATE TABLE stock_transaction (
    id              TEXT COLLATE "C" PRIMARY KEY,
    product_id      TEXT COLLATE "C" NOT NULL,
    action          TEXT NOT NULL,
    quantity        BIGINT NOT NULL,
    available_delta BIGINT NOT NULL,
    allocated_delta BIGINT NOT NULL,
    reason          TEXT NOT NULL,
    reference       TEXT NOT NULL,
    actor           TEXT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX stock_transaction_of_product ON stock_transaction (product_id, created_at, id);
CREATE INDEX stock_transaction_in_order ON stock_transaction (created_at, id);

CREATE TABLE promotion (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX promotion_in_order ON promotion (sequence, id);

CREATE TABLE promotion_code (
    id           TEXT COLLATE "C" PRIMARY KEY,
    promotion_id TEXT COLLATE "C" NOT NULL,
    code         TEXT COLLATE "C" NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX promotion_code_of_promotion ON promotion_code (promotion_id, code, id);

CREATE TABLE code_usage (
    id           TEXT COLLATE "C" PRIMARY KEY,
    promotion_id TEXT COLLATE "C" NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX code_usage_of_promotion ON code_usage (promotion_id, id);

CREATE TABLE gateway (
    slug TEXT COLLATE "C" PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE api_client (
    id          TEXT COLLATE "C" PRIMARY KEY,
    name        TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    scopes      TEXT NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE TABLE signing_key (
    id         TEXT COLLATE "C" PRIMARY KEY,
    public     BYTEA NOT NULL,
    sealed     BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
