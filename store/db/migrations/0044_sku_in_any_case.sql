-- SKUs that differ in case alone, of which imports and mutations warn.
CREATE INDEX product_by_sku_in_any_case ON product (lower(sku));
