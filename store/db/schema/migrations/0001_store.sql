CREATE TABLE store_meta (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);
-- cursor_key is the secret by which all servers sign cursors. Backups and copies have it, so cursors stay valid in them.
INSERT INTO store_meta (name, value)
VALUES ('min_binary', '1'), ('cursor_key', REPLACE(CAST(gen_random_uuid() AS TEXT) || CAST(gen_random_uuid() AS TEXT), '-', ''));

-- follows is the version that a lane had before, so that a reader sees whether it missed one.
CREATE TABLE change (
    topic   TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    follows BIGINT NOT NULL DEFAULT 0
);
INSERT INTO change (topic, version) VALUES ('settings', 1), ('catalog', 1), ('keys', 1), ('clients', 1);

-- revision counts the writes of what catalogs publish. tracked_from is the revision after which authored_change is
-- complete. audit and audit_swept are the numbers of the last event, and of the last one whose time is over.
CREATE TABLE counter (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counter (name, value) VALUES
    ('release', 0), ('sequence', 0), ('stock', 0), ('revision', 0), ('tracked', 0), ('tracked_from', 0), ('audit', 0), ('audit_swept', 0);

-- low_stock_threshold is the available units up to which the stock of a product is shown as low. codes_ignore_case is
-- whether codes match without regard to case.
CREATE TABLE settings (
    id                  BIGINT PRIMARY KEY CHECK (id = 1),
    page_length         BIGINT NOT NULL CHECK (page_length BETWEEN 1 AND 100),
    currency            TEXT NOT NULL,
    locale              TEXT NOT NULL,
    low_stock_threshold BIGINT NOT NULL DEFAULT 5,
    codes_ignore_case   BOOLEAN NOT NULL DEFAULT TRUE
);
INSERT INTO settings (id, page_length, currency, locale) VALUES (1, 25, 'USD', 'en');

CREATE TABLE file (
    id   TEXT COLLATE "C" PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE product (
    id            TEXT COLLATE "C" PRIMARY KEY,
    live          BOOLEAN NOT NULL,
    parent_id     TEXT COLLATE "C" NOT NULL,
    component_ids TEXT NOT NULL,
    sku           TEXT COLLATE "C" NOT NULL DEFAULT '',
    slug          TEXT COLLATE "C" NOT NULL DEFAULT '',
    external_ref  TEXT COLLATE "C" NOT NULL DEFAULT '',
    text_folded   TEXT NOT NULL DEFAULT '', -- name and SKU, for searches
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    body          TEXT NOT NULL
);
CREATE INDEX product_of_parent ON product (parent_id, id) WHERE parent_id <> '';
CREATE INDEX product_by_sku ON product (sku, id);
CREATE INDEX product_by_slug ON product (slug, id);
CREATE INDEX product_by_external_ref ON product (external_ref, id) WHERE external_ref <> '';
CREATE INDEX product_by_status ON product (live, id);
CREATE INDEX product_by_status_updated ON product (live, updated_at, id);
CREATE INDEX product_by_updated ON product (updated_at, id);
-- SKUs that differ in case alone, of which imports and mutations warn.
CREATE INDEX product_by_sku_in_any_case ON product (lower(sku));

-- The components of bundles, as in product.component_ids, found by either.
CREATE TABLE product_component (
    product_id   TEXT COLLATE "C" NOT NULL,
    component_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (product_id, component_id)
) /* WITHOUT ROWID */;
CREATE INDEX product_component_of ON product_component (component_id, product_id);

-- The merchant's own attributes, of which products have values.
CREATE TABLE attribute (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX attribute_in_order ON attribute (sequence, id);

CREATE TABLE hierarchy (
    id         TEXT COLLATE "C" PRIMARY KEY,
    sequence   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX hierarchy_in_order ON hierarchy (sequence, id);

CREATE TABLE node (
    id           TEXT COLLATE "C" PRIMARY KEY,
    hierarchy_id TEXT COLLATE "C" NOT NULL,
    parent_id    TEXT COLLATE "C" NOT NULL, -- a node, or the hierarchy
    slug         TEXT COLLATE "C" NOT NULL,
    name_folded  TEXT NOT NULL,
    name_key     TEXT COLLATE "C" NOT NULL,
    position     BIGINT NOT NULL, -- beyond all positions if it has none
    sequence     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX node_in_order ON node (sequence, id);
CREATE INDEX node_of_hierarchy ON node (hierarchy_id, id);
CREATE INDEX node_of_parent ON node (parent_id, id);
CREATE INDEX node_by_slug ON node (slug, id);
CREATE INDEX node_by_created ON node (created_at, id);
CREATE INDEX node_by_updated ON node (updated_at, id);
CREATE INDEX node_by_name ON node (name_key, id);
CREATE INDEX node_by_position ON node (position, name_key, id);
CREATE INDEX node_of_parent_by_position ON node (parent_id, position, name_key, id);

CREATE TABLE node_product (
    node_id    TEXT COLLATE "C" NOT NULL,
    attached   BIGINT NOT NULL,
    product_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (node_id, attached, product_id)
) /* WITHOUT ROWID */;
CREATE INDEX node_product_of_product ON node_product (product_id);

CREATE TABLE pricebook (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX pricebook_in_order ON pricebook (sequence, id);

CREATE TABLE price (
    id           TEXT COLLATE "C" PRIMARY KEY,
    pricebook_id TEXT COLLATE "C" NOT NULL,
    sku          TEXT COLLATE "C" NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX price_of_sku ON price (sku, pricebook_id, id);
CREATE INDEX price_of_pricebook ON price (pricebook_id, id);

CREATE TABLE price_modifier (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX price_modifier_in_order ON price_modifier (sequence, id);

CREATE TABLE synonym (
    id       TEXT COLLATE "C" PRIMARY KEY,
    sequence BIGINT NOT NULL,
    body     TEXT NOT NULL
);
CREATE INDEX synonym_in_order ON synonym (sequence, id);

CREATE TABLE redirect (
    id        TEXT COLLATE "C" PRIMARY KEY,
    sequence  BIGINT NOT NULL,
    from_path TEXT COLLATE "C" NOT NULL,
    to_path   TEXT COLLATE "C" NOT NULL, -- or a URL; empty if it leads to a product or node
    body      TEXT NOT NULL
);
CREATE INDEX redirect_in_order ON redirect (sequence, id);
CREATE INDEX redirect_by_from ON redirect (from_path, id);
CREATE INDEX redirect_by_to ON redirect (to_path, id);

-- A catalog that was rolled back is held at its release: only a release whose number is above held_below is served in
-- its place. rolled_back_from is the highest release it served before.
CREATE TABLE catalog (
    id               TEXT COLLATE "C" PRIMARY KEY,
    created_at       BIGINT NOT NULL,
    sequence         BIGINT NOT NULL,
    release_id       BIGINT,
    held_below       BIGINT NOT NULL DEFAULT 0,
    rolled_back_from BIGINT NOT NULL DEFAULT 0,
    body             TEXT NOT NULL
);
CREATE INDEX catalog_in_order ON catalog (sequence, id);

CREATE TABLE catalog_rule (
    id         TEXT COLLATE "C" PRIMARY KEY,
    catalog_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    sequence   BIGINT NOT NULL,
    body       TEXT NOT NULL
);
CREATE INDEX catalog_rule_in_order ON catalog_rule (sequence, id);

-- What was written of what catalogs publish, and in which revision: complete for revisions above the counter
-- tracked_from, and bounded.
CREATE TABLE authored_change (
    revision BIGINT NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    id       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (revision, kind, id)
) /* WITHOUT ROWID */;
CREATE INDEX authored_change_of_resource ON authored_change (kind, id, revision);

-- format is segment.ReleaseFormat, and revision that of the authored data. A release is made of layers: a base, deltas
-- above it, and itself. base_id is the base. layers has those below the release, as "ID:PUBLISHED:FIRST:END", with the
-- ordinals of their products; its own products begin at first_ordinal. equal_to is the release that shows the same as a
-- base that is not served. nodes_by is the layer that holds the nodes, nodes_since the release since which they are the
-- same (0 is the release itself in both), and nodes_at when that was published, in microseconds. added, changed and
-- removed count products against the release that was served before. served_at is when it was last made the served one
-- (0 if it never was), and rolled_back whether it was served and rolled back since: cursors do not lead into it. No
-- sweep deletes a retained release.
CREATE TABLE release (
    id            BIGINT PRIMARY KEY,
    catalog_id    TEXT COLLATE "C" NOT NULL,
    state         TEXT NOT NULL,
    format        BIGINT NOT NULL DEFAULT 0,
    locale        TEXT NOT NULL,
    locales       TEXT NOT NULL,
    products      BIGINT NOT NULL,
    revision      BIGINT NOT NULL DEFAULT -1,
    base_id       BIGINT NOT NULL DEFAULT 0,
    layers        TEXT NOT NULL DEFAULT '',
    equal_to      BIGINT NOT NULL DEFAULT 0,
    first_ordinal BIGINT NOT NULL DEFAULT 0,
    ordinals      BIGINT NOT NULL DEFAULT 0,
    nodes_by      BIGINT NOT NULL DEFAULT 0,
    nodes_since   BIGINT NOT NULL DEFAULT 0,
    nodes_at      BIGINT NOT NULL DEFAULT 0,
    added         BIGINT NOT NULL DEFAULT 0,
    changed       BIGINT NOT NULL DEFAULT 0,
    removed       BIGINT NOT NULL DEFAULT 0,
    bytes         BIGINT NOT NULL DEFAULT 0,
    published_at  BIGINT NOT NULL,
    served_at     BIGINT NOT NULL DEFAULT 0,
    superseded_at BIGINT NOT NULL,
    touched_at    BIGINT NOT NULL,
    preview       BOOLEAN NOT NULL DEFAULT FALSE,
    rolled_back   BOOLEAN NOT NULL DEFAULT FALSE,
    retained      BOOLEAN NOT NULL DEFAULT FALSE,
    actor         TEXT NOT NULL DEFAULT '',
    label         TEXT NOT NULL DEFAULT '',
    note          TEXT NOT NULL DEFAULT ''
);
CREATE INDEX release_of_catalog ON release (catalog_id, id);

-- The products of a release, a few of one node side by side (segment/block.go).
CREATE TABLE release_block (
    id   BIGINT /* ROWID */ PRIMARY KEY,
    body BYTEA NOT NULL
);

CREATE TABLE release_place (
    release_id BIGINT NOT NULL,
    product_id TEXT COLLATE "C" NOT NULL,
    ordinal    BIGINT NOT NULL,
    PRIMARY KEY (release_id, product_id)
) /* WITHOUT ROWID */;

CREATE TABLE release_sale (
    release_id   BIGINT NOT NULL,
    currency     TEXT COLLATE "C" NOT NULL,
    ordinal      BIGINT NOT NULL,
    pricebook_id TEXT NOT NULL,
    sales        TEXT NOT NULL,
    PRIMARY KEY (release_id, currency, ordinal)
) /* WITHOUT ROWID */;

-- published_at is when this version of the node was first published in its catalog, in microseconds; 0 is with its
-- release. texts are those in other languages, JSON by language; empty for none. position is NULL for none, main_image_id is empty.
-- attributes are values of attributes of one's own, JSON by key; empty for none.
CREATE TABLE release_node (
    release_id      BIGINT NOT NULL,
    ordinal         BIGINT NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    kind            TEXT NOT NULL,
    name            TEXT NOT NULL,
    slug            TEXT NOT NULL,
    description     TEXT NOT NULL,
    hierarchy_id    TEXT NOT NULL,
    parent_id       TEXT NOT NULL,
    seo_title       TEXT NOT NULL DEFAULT '',
    seo_description TEXT NOT NULL DEFAULT '',
    texts           TEXT NOT NULL DEFAULT '',
    position        BIGINT,
    main_image_id   TEXT COLLATE "C" NOT NULL DEFAULT '',
    attributes      TEXT NOT NULL DEFAULT '',
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    published_at    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (release_id, ordinal)
) /* WITHOUT ROWID */;

CREATE TABLE release_file (
    release_id BIGINT NOT NULL,
    file_id    TEXT COLLATE "C" NOT NULL,
    body       TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (release_id, file_id)
) /* WITHOUT ROWID */;

-- held_by is the release that holds the list, parts are the places of the parts of a delta's list, and since is the
-- release since which the list is the same; 0 is the release itself.
CREATE TABLE release_list (
    release_id BIGINT NOT NULL,
    list       TEXT COLLATE "C" NOT NULL,
    total      BIGINT NOT NULL,
    curated    BYTEA NOT NULL,
    parts      BYTEA,
    held_by    BIGINT NOT NULL DEFAULT 0,
    since      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (release_id, list)
) /* WITHOUT ROWID */;

CREATE TABLE release_chunk (
    release_id BIGINT NOT NULL,
    list       TEXT COLLATE "C" NOT NULL,
    sort       TEXT COLLATE "C" NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, list, sort, chunk)
) /* WITHOUT ROWID */;

CREATE TABLE release_index (
    release_id BIGINT NOT NULL,
    attribute  TEXT COLLATE "C" NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, attribute, chunk)
) /* WITHOUT ROWID */;

CREATE TABLE release_word (
    release_id BIGINT NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, chunk)
) /* WITHOUT ROWID */;

CREATE TABLE release_facet (
    release_id BIGINT NOT NULL,
    attribute  TEXT COLLATE "C" NOT NULL,
    chunk      BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, attribute, chunk)
) /* WITHOUT ROWID */;

-- What differs between a release and the one that its catalog served when it was published: packed keys
-- (internal/dependency).
CREATE TABLE release_change (
    release_id BIGINT NOT NULL,
    against_id BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    PRIMARY KEY (release_id, against_id)
);

-- Steps of paths that a catalog served: below the node above_id, slug led to target_id until the turn, or, with came, since it.
-- turn is the number of a release, or one that no release has, for a release that is served again.
CREATE TABLE path_change (
    catalog_id TEXT COLLATE "C" NOT NULL,
    slug       TEXT COLLATE "C" NOT NULL,
    turn       BIGINT NOT NULL,
    above_id   TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    target_id  TEXT COLLATE "C" NOT NULL,
    came       BOOLEAN NOT NULL,
    PRIMARY KEY (catalog_id, slug, turn, above_id, kind, target_id, came)
);
CREATE INDEX path_change_by_target ON path_change (catalog_id, kind, target_id, turn);
CREATE INDEX path_change_by_turn ON path_change (catalog_id, turn);

-- What the purge hook last saw of the shop (one row), and the calls that it still has to make: one row for each catalog,
-- and the id '' for all catalogs. Times are by the database's clock. changed is what changed, packed as in release_change,
-- for the call with the revision changed_revision.
CREATE TABLE purge_seen (
    id   BIGINT PRIMARY KEY,
    seen TEXT NOT NULL
);
CREATE TABLE purge_call (
    catalog_id       TEXT COLLATE "C" PRIMARY KEY,
    release_id       BIGINT NOT NULL,
    revision         BIGINT NOT NULL,
    calls            BIGINT NOT NULL,
    attempts         BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    due_at           BIGINT NOT NULL,
    leased_until     BIGINT NOT NULL,
    changed          BYTEA NOT NULL DEFAULT '',
    changed_revision BIGINT NOT NULL DEFAULT -1
) /* WITHOUT ROWID */;

-- revision rises with each change of the row, so that the newer of two states is known. lines is how many lines of the
-- ledger the product has.
CREATE TABLE stock (
    product_id TEXT COLLATE "C" PRIMARY KEY,
    available  BIGINT NOT NULL CHECK (available >= 0),
    allocated  BIGINT NOT NULL CHECK (allocated >= 0),
    revision   BIGINT NOT NULL DEFAULT 1,
    lines      BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CHECK (available + allocated <= 2147483647)
);
CREATE INDEX stock_by_created ON stock (created_at, product_id);
CREATE INDEX stock_by_updated ON stock (updated_at, product_id);
CREATE INDEX stock_by_available ON stock (available, product_id);

-- Stock records that were deleted. Their ledgers stay, with so many lines. A record that is created again goes on from
-- the revision.
CREATE TABLE stock_deleted (
    product_id TEXT COLLATE "C" PRIMARY KEY,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    lines      BIGINT NOT NULL
) /* WITHOUT ROWID */;

CREATE TABLE stock_transaction (
    id              TEXT COLLATE "C" PRIMARY KEY,
    product_id      TEXT COLLATE "C" NOT NULL,
    action          TEXT NOT NULL,
    quantity        BIGINT NOT NULL,
    available_delta BIGINT NOT NULL,
    allocated_delta BIGINT NOT NULL,
    reason          TEXT NOT NULL,
    reference       TEXT NOT NULL,
    actor           TEXT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX stock_transaction_of_product ON stock_transaction (product_id, created_at, id);
CREATE INDEX stock_transaction_in_order ON stock_transaction (created_at, id);

-- Whose stock a write changed: the ids of products with spaces between them, or * for more than are worth naming. The
-- version is the lane's in change, and follows the one before.
CREATE TABLE stock_change (
    lane     TEXT COLLATE "C" NOT NULL,
    version  BIGINT NOT NULL,
    follows  BIGINT NOT NULL DEFAULT 0,
    products TEXT NOT NULL,
    PRIMARY KEY (lane, version)
) /* WITHOUT ROWID */;

-- number is the order of creation. A promotion's codes are the rows of its number and epoch; raising the epoch deletes
-- all of them at once. codes is how many the epoch has. body is the promotion in the contract's shape, the columns are
-- what it is found by.
CREATE TABLE promotion (
    id             TEXT COLLATE "C" PRIMARY KEY,
    number         BIGINT NOT NULL UNIQUE,
    epoch          BIGINT NOT NULL,
    codes          BIGINT NOT NULL DEFAULT 0,
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
-- The automatic promotions that apply to carts, those that end first.
CREATE INDEX promotion_automatic ON promotion (end_at, id) WHERE automatic AND enabled;

-- Deleted promotions whose usages are kept. The usages have the promotion's number. The codes of every epoch are deleted
-- in batches.
CREATE TABLE promotion_archive (
    number      BIGINT NOT NULL PRIMARY KEY,
    id          TEXT COLLATE "C" NOT NULL,
    epoch       BIGINT NOT NULL,
    archived_at BIGINT NOT NULL,
    archived_by TEXT NOT NULL,
    body        TEXT NOT NULL
);
CREATE INDEX promotion_archive_by_id ON promotion_archive (id, number);

-- The epochs whose codes wait to be deleted.
CREATE TABLE promotion_purge (
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL,
    PRIMARY KEY (promotion_number, epoch)
) /* WITHOUT ROWID */;

-- code_key is the code without its case, if that is another text. max_uses is NULL for a code that can be used without
-- end; used counts in both cases. users is '' for everybody, a JSON string or an array of strings. consume_unit is ''
-- if none is set. created_at is 0 for a code that was imported without.
CREATE TABLE promotion_code (
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL,
    code             TEXT COLLATE "C" NOT NULL,
    code_key         TEXT COLLATE "C",
    id               TEXT COLLATE "C" NOT NULL,
    max_uses         BIGINT,
    used             BIGINT NOT NULL,
    used_up          BOOLEAN GENERATED ALWAYS AS (COALESCE(used >= max_uses, FALSE)) STORED,
    consume_unit     TEXT NOT NULL,
    users            TEXT NOT NULL,
    created_at       BIGINT NOT NULL,
    PRIMARY KEY (promotion_number, epoch, code),
    CHECK (used >= 0 AND (max_uses IS NULL OR used <= max_uses))
) /* WITHOUT ROWID */;
CREATE UNIQUE INDEX promotion_code_by_id ON promotion_code (id);
CREATE INDEX promotion_code_in_order ON promotion_code (promotion_number, epoch, created_at, code);
CREATE INDEX promotion_code_by_code ON promotion_code (code, created_at, promotion_number, epoch);
CREATE INDEX promotion_code_by_key ON promotion_code (code_key) WHERE code_key IS NOT NULL;
CREATE INDEX promotion_code_by_state ON promotion_code (promotion_number, epoch, used_up, code);
CREATE INDEX promotion_code_by_state_in_order ON promotion_code (promotion_number, epoch, used_up, created_at, code);

-- Who holds a code. A claim counts as long as a promotion of its number and epoch has not ended; then the next one takes
-- it over. A code is valid only if the claim is its own promotion's, so that no two are ever valid.
CREATE TABLE code_claim (
    code             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    promotion_number BIGINT NOT NULL,
    epoch            BIGINT NOT NULL
) /* WITHOUT ROWID */;

-- units are those that were applied of the requested units_asked; released_at is when they were given back. A reference
-- makes redeeming and releasing a code idempotent.
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
CREATE INDEX code_usage_by_reference ON code_usage (reference, code);
CREATE INDEX code_usage_of_order ON code_usage (reference, created_at, id);
CREATE INDEX code_usage_of_promotion ON code_usage (promotion_number, created_at, id);
CREATE INDEX code_usage_of_code ON code_usage (promotion_number, code, created_at, id);
CREATE INDEX code_usage_in_order ON code_usage (created_at, id);

-- How many usages a promotion has: the sum of its parts, of which one alone may be less than 0.
CREATE TABLE code_usage_total (
    promotion_number BIGINT NOT NULL,
    part             BIGINT NOT NULL,
    usages           BIGINT NOT NULL,
    PRIMARY KEY (promotion_number, part)
) /* WITHOUT ROWID */;

CREATE TABLE gateway (
    slug       TEXT COLLATE "C" PRIMARY KEY,
    sealed     BYTEA,
    changed_at BIGINT NOT NULL DEFAULT 0,
    changed_by TEXT NOT NULL DEFAULT '',
    body       TEXT NOT NULL
);

-- A secret that was replaced is valid until old_until.
CREATE TABLE api_client (
    id              TEXT COLLATE "C" PRIMARY KEY,
    name            TEXT NOT NULL,
    secret_hash     TEXT NOT NULL,
    old_secret_hash TEXT NOT NULL DEFAULT '',
    old_until       BIGINT NOT NULL DEFAULT 0,
    scopes          TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    rotated_at      BIGINT NOT NULL DEFAULT 0,
    revoked_at      BIGINT NOT NULL DEFAULT 0,
    changed_by      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX api_client_in_order ON api_client (created_at, id);

-- A key is published from the start, and signs from signs_at on.
CREATE TABLE signing_key (
    id         TEXT COLLATE "C" PRIMARY KEY,
    public     BYTEA NOT NULL,
    sealed     BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    signs_at   BIGINT NOT NULL DEFAULT 0,
    made_by    TEXT NOT NULL DEFAULT ''
);

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

-- run_at is when a scheduled job starts, in microseconds; 0 for one that starts at once.
CREATE TABLE job (
    id          TEXT COLLATE "C" PRIMARY KEY,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    input       TEXT NOT NULL,
    result      TEXT NOT NULL,
    error       TEXT NOT NULL,
    done        BIGINT NOT NULL,
    total       BIGINT NOT NULL,
    canceled    BOOLEAN NOT NULL,
    worker      TEXT NOT NULL,
    actor       TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    run_at      BIGINT NOT NULL DEFAULT 0,
    started_at  BIGINT NOT NULL,
    beat_at     BIGINT NOT NULL,
    finished_at BIGINT NOT NULL
);
CREATE INDEX job_open ON job (finished_at, created_at, id);
CREATE INDEX job_in_order ON job (created_at, id);

-- Which server sweeps what is no longer needed, and when that last ended; times are by the database's clock.
CREATE TABLE sweep (
    name     TEXT COLLATE "C" PRIMARY KEY,
    worker   TEXT NOT NULL,
    beat_at  BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    swept    BIGINT NOT NULL
);

-- The audit log: what each write did. Ids are numbers of 16 hexadecimal digits, in the order of the commits. An event
-- is about one resource, or about several of a kind (resource_id is empty, and body has their ids).
CREATE TABLE audit_event (
    id          TEXT COLLATE "C" PRIMARY KEY,
    created_at  BIGINT NOT NULL,
    actor       TEXT COLLATE "C" NOT NULL,
    operation   TEXT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    resource_id TEXT COLLATE "C" NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    resources   BIGINT NOT NULL,
    body        TEXT NOT NULL
);
CREATE INDEX audit_event_in_order ON audit_event (created_at, id);
CREATE INDEX audit_event_of_actor ON audit_event (actor, created_at, id);
CREATE INDEX audit_event_of_kind ON audit_event (kind, created_at, id);
CREATE INDEX audit_event_of_resource ON audit_event (resource_id, created_at, id);
CREATE INDEX audit_event_of_action ON audit_event (action, created_at, id);
