UPDATE store_meta SET value = '12' WHERE name = 'min_binary';

-- which bundle speaks of which product, as in product.component_ids, to be
-- found by either
CREATE TABLE product_component (
    product_id   TEXT COLLATE "C" NOT NULL,
    component_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (product_id, component_id)
) /* WITHOUT ROWID */;
INSERT INTO product_component (product_id, component_id)
WITH RECURSIVE part (product_id, component_id, rest) AS (
    SELECT id, '', component_ids || ' ' FROM product WHERE component_ids <> ''
    UNION ALL
    SELECT product_id, substr(rest, 1, strpos(rest, ' ') - 1), substr(rest, strpos(rest, ' ') + 1) FROM part WHERE rest <> ''
)
SELECT DISTINCT product_id, component_id FROM part WHERE component_id <> '';
CREATE INDEX product_component_of ON product_component (component_id, product_id);

CREATE INDEX product_of_parent ON product (parent_id, id) WHERE parent_id <> '';
CREATE INDEX node_product_of_product ON node_product (product_id);

-- where the parts of a delta's list are (list_part.go)
ALTER TABLE release_list ADD COLUMN parts BYTEA;
