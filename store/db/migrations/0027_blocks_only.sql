-- Releases store products in blocks, and files with their texts. Releases of earlier formats keep their
-- rows and documents until they are swept.
-- An older binary would find no products in new releases: it reads release_row and document.
UPDATE store_meta SET value = '27' WHERE name = 'min_binary';
UPDATE release_file SET body = COALESCE((SELECT body FROM document WHERE document.id = release_file.document_id), '');
ALTER TABLE release_file DROP COLUMN document_id;
DROP TABLE release_product;
DROP TABLE document_hash;
DELETE FROM counter WHERE name = 'documents_due';
