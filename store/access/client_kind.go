package access

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// ClientKind is exported only on request, because it contains the hashes of secrets.
var ClientKind = authoring.Kind{
	Name: "api_client", Create: func() authoring.Source { return &clientSource{} },
	Write: writeClients, Export: exportClients,
	Private: true, Secrets: []string{"secret_hash"},
}

// clientSource is an API client in an import file, with the hash of its secret.
type clientSource struct {
	Type       string   `json:"type"`
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Scopes     []string `json:"scopes"`
	SecretHash string   `json:"secret_hash,omitempty"`
	CreatedAt  string   `json:"created_at"`
	RevokedAt  string   `json:"revoked_at,omitempty"`
}

func (c *clientSource) Key() string { return c.ID }

func (c *clientSource) Check(f *authoring.Validator) {
	f.ID("id", &c.ID)
	f.Required("name", c.Name, 255)
	if len(c.Scopes) == 0 {
		f.Add("scopes", "must name at least one of %s", strings.Join(Scopes(), ", "))
	}
	for i, scope := range c.Scopes {
		if !slices.Contains(Scopes(), scope) {
			f.Add("scopes."+strconv.Itoa(i), "must be a known scope, got %q", store.Abbreviate(scope))
		}
	}
	if c.CreatedAt == "" {
		f.Rule("created_at", "is required")
	}
	f.Time("created_at", &c.CreatedAt)
	f.Time("revoked_at", &c.RevokedAt)
}

// writeClients writes API clients. Without a hash, an existing client keeps its secret and
// a new one cannot log in. A revoked client stays revoked. An active one is revoked now, so that it is kept
// for as long as its tokens are valid.
func writeClients(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	w.Topics = append(w.Topics, db.TopicClients)
	for _, resource := range sources {
		c := resource.(*clientSource)
		var revoked int64
		if c.RevokedAt != "" {
			revoked = max(1, store.Micros(store.StoredTime(c.RevokedAt))) // a time before 1970 too: 0 is active
		}
		n, err := w.Exec(ctx, `
			INSERT INTO api_client (id, name, secret_hash, scopes, created_at, revoked_at, changed_by) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (id) DO UPDATE
			SET name = excluded.name, scopes = excluded.scopes, changed_by = excluded.changed_by,
			    secret_hash = CASE WHEN excluded.secret_hash = '' THEN api_client.secret_hash ELSE excluded.secret_hash END,
			    revoked_at = CASE WHEN api_client.revoked_at = 0 AND excluded.revoked_at > 0 THEN `+w.LaterSQL(`CAST($8 AS BIGINT)`)+` ELSE api_client.revoked_at END
			WHERE api_client.name <> excluded.name OR api_client.scopes <> excluded.scopes
			   OR (excluded.secret_hash <> '' AND api_client.secret_hash <> excluded.secret_hash)
			   OR (excluded.revoked_at > 0 AND api_client.revoked_at = 0)`,
			c.ID, c.Name, c.SecretHash, strings.Join(orderScopes(c.Scopes), " "), store.Micros(store.StoredTime(c.CreatedAt)), revoked, string(w.Actor), store.Micros(w.Now))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			changed = append(changed, c.ID)
		}
	}
	return changed, nil
}

func exportClients(ctx context.Context, e *authoring.Exporter) error {
	lines, err := db.Collect(ctx, e.In, func(rows *sql.Rows) (*clientSource, error) {
		c := &clientSource{Type: "api_client"}
		var scopes string
		var created, revoked int64
		err := rows.Scan(&c.ID, &c.Name, &c.SecretHash, &scopes, &created, &revoked)
		c.Scopes, c.CreatedAt = strings.Fields(scopes), store.FormatTime(store.FromMicros(created))
		if revoked > 0 {
			c.RevokedAt = store.FormatTime(store.FromMicros(revoked))
		}
		return c, err
	}, `SELECT id, name, secret_hash, scopes, created_at, revoked_at FROM api_client ORDER BY id`)
	for _, line := range lines {
		if err := e.Line(store.Encode(line)); err != nil {
			return err
		}
	}
	return err
}
