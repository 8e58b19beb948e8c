UPDATE store_meta SET value = '6' WHERE name = 'min_binary';

DROP TABLE code_usage;
DROP TABLE promotion_code;
DROP TABLE promotion;

-- number is the order of creation. A promotion's codes are the rows of its
-- number and epoch; raising the epoch does away with all of them at once.
-- body is the promotion in the contract's shape, the columns are what is
-- asked by.
CREATE TABLE promotion (
    id             TEXT COLLATE "C" PRIMARY KEY,
    number         BIGINT NOT NULL UNIQUE,
    epoch          BIGINT NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    name_key       TEXT COLLATE "C" NOT NULL,
    name_folded    TEXT NOT NULL,
    promotion_type TEXT NOT NULL,
    enabled        BOOLEAN NOT NULL,
    automatic      BOOLEAN NOT NULL,
    start_at       BIGINT NOT NULL,
    end_at         BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    body           TEXT NOT NULL
);
CREATE INDEX promotion_by_created ON promotion (created_at, id);
CREATE INDEX promotion_by_updated ON promotion (updated_at, id);
CREATE INDEX promotion_by_name ON promotion (name_key, id);

-- max_uses is NULL where a code can be used without end; used counts in both
-- cases. users is '' for everybody, a JSON string or an array of strings.
-- consume_unit is '' where nobody named one. created_at is 0 for a code that
-- was imported without.
CREATE TABLE promotion_code (
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL,
    code             TEXT COLLATE "C" NOT NULL,
    id               TEXT COLLATE "C" NOT NULL,
    max_uses         BIGINT,
    used             BIGINT NOT NULL,
    consume_unit     TEXT NOT NULL,
    users            TEXT NOT NULL,
    created_at       BIGINT NOT NULL,
    PRIMARY KEY (promotion_number, epoch, code),
    CHECK (used >= 0 AND (max_uses IS NULL OR used <= max_uses))
) /* WITHOUT ROWID */;
CREATE UNIQUE INDEX promotion_code_by_id ON promotion_code (id);
CREATE INDEX promotion_code_in_order ON promotion_code (promotion_number, epoch, created_at, code);
CREATE INDEX promotion_code_by_code ON promotion_code (code, created_at, promotion_number, epoch);

-- Who holds a code. A claim counts as long as a promotion of its number and
-- epoch has not ended; then the next one takes it over. A code is good only
-- where the claim is its own promotion's, so that no two are ever good.
CREATE TABLE code_claim (
    code             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL
) /* WITHOUT ROWID */;

-- The epochs whose codes wait to be deleted; usages go too where the
-- promotion itself is gone.
CREATE TABLE promotion_purge (
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL,
    PRIMARY KEY (promotion_number, epoch)
) /* WITHOUT ROWID */;

-- units are those that were applied of the units asked for; released_at is
-- when they were given back.
CREATE TABLE code_usage (
    id               TEXT COLLATE "C" PRIMARY KEY,
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL,
    code             TEXT COLLATE "C" NOT NULL,
    user_id          TEXT NOT NULL,
    units_asked      BIGINT NOT NULL,
    units            BIGINT NOT NULL CHECK (units > 0 AND units <= units_asked),
    reference        TEXT COLLATE "C" NOT NULL,
    actor            TEXT NOT NULL,
    created_at       BIGINT NOT NULL,
    released_at      BIGINT
);
CREATE UNIQUE INDEX code_usage_of_reference ON code_usage (promotion_number, epoch, code, reference) WHERE reference <> '';
CREATE INDEX code_usage_of_promotion ON code_usage (promotion_number, created_at, id);
CREATE INDEX code_usage_of_code ON code_usage (promotion_number, code, created_at, id);
