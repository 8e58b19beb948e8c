UPDATE store_meta SET value = '10' WHERE name = 'min_binary';

-- A secret that was replaced is good until old_until.
ALTER TABLE api_client ADD COLUMN old_secret_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE api_client ADD COLUMN old_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE api_client ADD COLUMN rotated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE api_client ADD COLUMN revoked_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE api_client ADD COLUMN changed_by TEXT NOT NULL DEFAULT '';
CREATE INDEX api_client_in_order ON api_client (created_at, id);
INSERT INTO change (topic, version) VALUES ('clients', 1);

-- A key is published from the start, and signs from signs_at on.
ALTER TABLE signing_key ADD COLUMN signs_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE signing_key ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
UPDATE signing_key SET signs_at = created_at;
