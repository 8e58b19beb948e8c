UPDATE store_meta SET value = '3' WHERE name = 'min_binary';

ALTER TABLE release_price ADD COLUMN tiers TEXT NOT NULL DEFAULT '';

CREATE TABLE release_sale (
    release_id   BIGINT NOT NULL,
    currency     TEXT COLLATE "C" NOT NULL,
    ordinal      BIGINT NOT NULL,
    pricebook_id TEXT NOT NULL,
    sales        TEXT NOT NULL,
    PRIMARY KEY (release_id, currency, ordinal)
) /* WITHOUT ROWID */;
