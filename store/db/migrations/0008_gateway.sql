UPDATE store_meta SET value = '8' WHERE name = 'min_binary';

ALTER TABLE gateway ADD COLUMN sealed BYTEA;
ALTER TABLE gateway ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE gateway ADD COLUMN changed_by TEXT NOT NULL DEFAULT '';
