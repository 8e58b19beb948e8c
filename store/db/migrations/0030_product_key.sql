-- A product's SKU and slug, by which an import finds products that have the same, and prices without
-- a product. Empty for rows that an older binary wrote: the next import fills them in.
ALTER TABLE product ADD COLUMN sku TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE product ADD COLUMN slug TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX product_by_sku ON product (sku, id);
CREATE INDEX product_by_slug ON product (slug, id);
