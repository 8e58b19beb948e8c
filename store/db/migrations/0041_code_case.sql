-- Whether codes match without regard to case: 0 no, 1 it is being switched on, 2 yes, 3 it is being switched off.
-- In a new database it is 2 (db.migrate).
ALTER TABLE settings ADD COLUMN code_case BIGINT NOT NULL DEFAULT 0;

-- The code without its case, if that is another text. It follows from the code alone. NULL too in rows of an older
-- binary, until the setting is switched on.
ALTER TABLE promotion_code ADD COLUMN code_key TEXT COLLATE "C";
CREATE INDEX promotion_code_by_key ON promotion_code (code_key) WHERE code_key IS NOT NULL;
