-- The available units up to which the stock of a product is shown as low.
ALTER TABLE settings ADD COLUMN low_stock_threshold BIGINT NOT NULL DEFAULT 5;
