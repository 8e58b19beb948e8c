-- Products by status, and each in order of change.
CREATE INDEX product_by_status ON product (live, id);
CREATE INDEX product_by_status_updated ON product (live, updated_at, id);
CREATE INDEX product_by_updated ON product (updated_at, id);

-- Changes that are not published, by resource.
CREATE INDEX authored_change_of_resource ON authored_change (kind, id, revision);

-- What search engines show of a node.
ALTER TABLE release_node ADD COLUMN seo_title TEXT NOT NULL DEFAULT '';
ALTER TABLE release_node ADD COLUMN seo_description TEXT NOT NULL DEFAULT '';
