-- Whether a code has no uses left, so that codes can be listed by it. It is computed: an older binary keeps it
-- right. A redemption that leaves uses changes no index.
ALTER TABLE promotion_code ADD COLUMN used_up BOOLEAN GENERATED ALWAYS AS (COALESCE(used >= max_uses, FALSE)) STORED;
CREATE INDEX promotion_code_by_state ON promotion_code (promotion_number, epoch, used_up, code);
CREATE INDEX promotion_code_by_state_in_order ON promotion_code (promotion_number, epoch, used_up, created_at, code);

-- The usages of all promotions, and those of an order.
CREATE INDEX code_usage_in_order ON code_usage (created_at, id);
CREATE INDEX code_usage_of_order ON code_usage (reference, created_at, id);

-- The stock of which least is left.
CREATE INDEX stock_by_available ON stock (available, product_id);
