UPDATE store_meta SET value = '7' WHERE name = 'min_binary';

CREATE TABLE idempotency_key (
    client     TEXT COLLATE "C" NOT NULL,
    operation  TEXT COLLATE "C" NOT NULL,
    key        TEXT COLLATE "C" NOT NULL,
    input_hash TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (client, operation, key)
) /* WITHOUT ROWID */;
CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at);

-- Redeeming and releasing a code are idempotent by reference.
CREATE INDEX code_usage_by_reference ON code_usage (reference, code);
