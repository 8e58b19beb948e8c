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

-- The number of the last event, and of the last one that was deleted since its time is over.
INSERT INTO counter (name, value) VALUES ('audit', 0), ('audit_swept', 0) ON CONFLICT (name) DO NOTHING;
