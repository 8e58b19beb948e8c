UPDATE store_meta SET value = '13' WHERE name = 'min_binary';

-- a document is found by its id in one step
CREATE TABLE document_by_id (
    id   BIGINT /* ROWID */ PRIMARY KEY,
    hash BYTEA NOT NULL,
    body TEXT NOT NULL
);
INSERT INTO document_by_id (id, hash, body) SELECT id, hash, body FROM document ORDER BY id;
DROP TABLE document;
ALTER TABLE document_by_id RENAME TO document;

-- what a release shows of a product, by the release's number and the ordinal
-- (product_row.go); prices are in it
CREATE TABLE release_row (
    id   BIGINT /* ROWID */ PRIMARY KEY,
    body TEXT NOT NULL
);
INSERT INTO release_row (id, body)
SELECT p.release_id * 4294967296 + p.ordinal, p.product_id || '
' || p.documents || '
' || p.crumbs || '
' || COALESCE((
    SELECT string_agg('=' || currency || ' ' || pricebook_id || ' ' || amount || CASE WHEN includes_tax THEN ' 1 ' ELSE ' 0 ' END || tiers || '
', '') FROM release_price WHERE release_id = p.release_id AND ordinal = p.ordinal), '') || COALESCE(sale.lines, '')
FROM release_product AS p
LEFT JOIN (
    SELECT release_id, ordinal, string_agg('%' || currency || ' ' || pricebook_id || ' ' || sales || '
', '') AS lines
    FROM release_sale GROUP BY release_id, ordinal) AS sale ON sale.release_id = p.release_id AND sale.ordinal = p.ordinal
ORDER BY p.release_id, p.ordinal;
DROP TABLE release_price;
