-- A release is made of layers: a base, deltas above it, and itself. layers has those below, as "ID:PUBLISHED:FIRST:END",
-- with the ordinals of their products. nodes_by is the layer that holds the nodes; 0 is the release itself. equal_to is
-- the release that shows the same as a base that is not served.
ALTER TABLE release ADD COLUMN layers TEXT NOT NULL DEFAULT '';
ALTER TABLE release ADD COLUMN nodes_by BIGINT NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN equal_to BIGINT NOT NULL DEFAULT 0;
