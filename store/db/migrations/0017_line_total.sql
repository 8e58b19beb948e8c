-- An older binary would not keep the sums.
UPDATE store_meta SET value = '17' WHERE name = 'min_binary';

-- how many lines of the ledger the product has, filled by the next one
ALTER TABLE stock ADD COLUMN lines BIGINT NOT NULL DEFAULT 0;

-- How many usages a promotion has: the sum of its parts, of which one alone
-- may be less than 0.
CREATE TABLE code_usage_total (
    promotion_number BIGINT NOT NULL,
    part             BIGINT NOT NULL,
    usages           BIGINT NOT NULL,
    PRIMARY KEY (promotion_number, part)
) /* WITHOUT ROWID */;
INSERT INTO code_usage_total (promotion_number, part, usages) SELECT promotion_number, 0, COUNT(*) FROM code_usage GROUP BY promotion_number;
