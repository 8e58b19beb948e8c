-- An older binary would not keep the sum.
UPDATE store_meta SET value = '15' WHERE name = 'min_binary';

-- how many codes the promotion's epoch has, filled by the next one
ALTER TABLE promotion ADD COLUMN codes BIGINT NOT NULL DEFAULT 0;
