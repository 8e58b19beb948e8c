// Package gateway manages payment gateways and their sealed passwords. Service reads
// and writes Gateway configurations; Secret keeps passwords out of logs. It may import
// store, store/authoring, store/db and store/seal.
package gateway

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/seal"
)

// Service manages the gateways of a database.
type Service struct {
	db     *db.DB
	sealer *seal.Sealer // seals passwords; nil if this process does not need them
}

// NewService returns the service of a database. sealer may be nil if the process
// does not read or write secrets.
func NewService(d *db.DB, sealer *seal.Sealer) *Service {
	return &Service{db: d, sealer: sealer}
}

// Slug names a payment gateway.
type Slug string

// The gateways.
const (
	CardProcessor Slug = "card_processor" // has credentials
	Manual        Slug = "manual"         // has none
)

// Slugs lists the gateways in display order.
func Slugs() []Slug { return []Slug{CardProcessor, Manual} }

// Gateway is the configuration of a payment gateway, without its password.
type Gateway struct {
	Slug        Slug
	Name        string
	Enabled     bool
	Test        bool
	MerchantID  string
	Login       string // the username
	PasswordSet bool
	Fingerprint string    // distinguishes passwords; empty without one
	ChangedAt   time.Time // last change; zero if never configured
	ChangedBy   store.Actor
}

// Configured reports whether it was ever configured.
func (g *Gateway) Configured() bool { return !g.ChangedAt.IsZero() }

// Change has the new values; nil keeps a value.
type Change struct {
	Name       *string `json:"name,omitempty"` // empty keeps the old one
	Enabled    *bool   `json:"enabled,omitempty"`
	Test       *bool   `json:"test,omitempty"`
	MerchantID *string `json:"merchantId,omitempty"`
	Username   *string `json:"username,omitempty"`
	Password   *Secret `json:"password,omitempty"` // SecretMask keeps the old one

	Nulls store.Nulls `json:"-"`
}

// applyNulls clears members that were sent as null: the name becomes the default, the
// switches false.
func (c *Change) applyNulls(slug Slug) error {
	name := slug.defaultName()
	return c.Nulls.Apply([]string{"merchant_id", "username", "password"}, map[string]func(){
		"name": func() { c.Name = &name }, "enabled": store.Clear(&c.Enabled), "test": store.Clear(&c.Test)})
}

// defaultName is the name of a gateway without one.
func (slug Slug) defaultName() string {
	if slug == Manual {
		return "Manual"
	}
	return "Card Processor"
}

// List lists every gateway; unconfigured ones are disabled.
func (s *Service) List(ctx context.Context) ([]*Gateway, error) {
	kept, err := db.Collect(ctx, s.db.Reader, s.scanGateway, `SELECT `+gatewayColumns+` FROM gateway ORDER BY slug`)
	if err != nil {
		return nil, err
	}
	list := make([]*Gateway, 0, len(Slugs()))
	for _, slug := range Slugs() {
		at := slices.IndexFunc(kept, func(g *Gateway) bool { return g.Slug == slug })
		if at >= 0 {
			list = append(list, kept[at])
		} else {
			list = append(list, &Gateway{Slug: slug, Name: slug.defaultName()})
		}
	}
	return list, nil
}

// Get returns a gateway, or NOT_FOUND.
func (s *Service) Get(ctx context.Context, slug string) (*Gateway, error) {
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		if string(g.Slug) == slug {
			return g, nil
		}
	}
	return nil, UnknownGateway()
}

// UnknownGateway returns NOT_FOUND with the valid slugs. It does not repeat the slug sent:
// errors about gateways never contain input.
func UnknownGateway() error {
	var names []string
	for _, slug := range Slugs() {
		names = append(names, string(slug))
	}
	return store.NotFoundf([]string{"slug"}, "is not a gateway; use %s", strings.Join(names, " and "))
}

const gatewayColumns = `slug, body, sealed, changed_at, changed_by`

// scanGateway reads a row. It decrypts the password only for its fingerprint, and only if
// there is a sealer.
func (s *Service) scanGateway(rows *sql.Rows) (*Gateway, error) {
	var sealed []byte
	var changed int64
	var source gatewaySource
	g := &Gateway{}
	if err := rows.Scan(&g.Slug, db.JSON{Into: &source}, &sealed, &changed, &g.ChangedBy); err != nil {
		return nil, err
	}
	g.Name, g.Enabled, g.Test, g.MerchantID, g.Login = source.Name, source.Enabled, source.Test, source.MerchantID, source.Login
	if g.Name == "" {
		g.Name = g.Slug.defaultName()
	}
	g.ChangedAt = store.OptionalMicros(changed)
	if len(sealed) == 0 || s.sealer == nil {
		g.PasswordSet = len(sealed) > 0
		return g, nil
	}
	password, err := s.sealer.Open(g.Slug.PasswordField(), sealed)
	if err != nil {
		return nil, err
	}
	key, err := s.sealer.KeyOf(g.Slug.PasswordField(), sealed)
	if err != nil {
		return nil, err
	}
	g.PasswordSet, g.Fingerprint = true, key.Fingerprint(g.Slug.PasswordField(), password)
	return g, nil
}

// PasswordField names a gateway's password for the sealer.
func (slug Slug) PasswordField() string { return "gateway/" + string(slug) + "/password" }

// Update changes a gateway and returns its configuration. It returns NOT_FOUND for an
// unknown slug, and UNPROCESSABLE for each empty credential, or each missing one when the
// card processor is first configured.
func (s *Service) Update(ctx context.Context, actor store.Actor, slug string, change Change) (*Gateway, error) {
	if s.sealer == nil {
		return nil, errors.New("only a server can configure a gateway, because it has the sealing key")
	}
	if _, err := s.Get(ctx, slug); err != nil {
		return nil, err
	}
	if err := change.applyNulls(Slug(slug)); err != nil {
		return nil, err
	}
	change = change.withoutUnchanged(Slug(slug))
	if faults := change.check(Slug(slug)); len(faults) > 0 {
		return nil, faults
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Gateway, error) {
		key, err := db.CurrentKey(ctx, t, s.sealer)
		if err != nil {
			return nil, err
		}
		// Insert the row first, so that concurrent changes are serialized.
		if _, err := t.Exec(ctx, `INSERT INTO gateway (slug, body) VALUES ($1, $2) ON CONFLICT (slug) DO UPDATE SET body = gateway.body`,
			slug, string(store.Encode(&gatewaySource{Type: "gateway", Slug: slug}))); err != nil {
			return nil, err
		}
		g, _, err := db.One(ctx, t.Session, s.scanGateway, `SELECT `+gatewayColumns+` FROM gateway WHERE slug = $1`, slug)
		if err != nil {
			return nil, err
		}
		if err := change.complete(g); err != nil {
			return nil, err
		}
		w := &authoring.Writer{Tx: t, DB: s.db}
		if change.Password != nil {
			mask := json.RawMessage(`"` + SecretMask + `"`)
			w.RecordMembers(store.AuditGateway, slug, store.MemberChange{Path: []string{"password"}, Before: mask, After: mask})
			if _, err := t.Exec(ctx, `UPDATE gateway SET sealed = $2 WHERE slug = $1`,
				slug, key.Seal(g.Slug.PasswordField(), []byte(change.Password.Reveal()))); err != nil {
				return nil, err
			}
		}
		var after *Gateway
		err = w.Recorded(ctx, Kind, slug, func() (err error) {
			after, _, err = db.One(ctx, t.Session, s.scanGateway, `
				UPDATE gateway SET body = $2, changed_at = $3, changed_by = $4 WHERE slug = $1
				RETURNING `+gatewayColumns, slug, string(store.Encode(change.applied(g))), store.Micros(t.Now), string(t.Actor))
			return err
		})
		return after, err
	})
}

// SecretFingerprint is a fingerprint of a secret, by which an idempotency key compares inputs; empty for none, and for SecretMask.
func (s *Service) SecretFingerprint(secret *Secret) string {
	if secret = secret.Given(); secret == nil || s.sealer == nil {
		return ""
	}
	return s.sealer.Preferred().Fingerprint("mark", []byte(secret.Reveal()))
}

// withoutUnchanged drops members that only repeat the current state, because clients send back whole
// what they read: a masked password, and empty credentials of the manual gateway.
func (c Change) withoutUnchanged(slug Slug) Change {
	c.Password = c.Password.Given()
	if slug != Manual {
		return c
	}
	if c.Password != nil && c.Password.Empty() {
		c.Password = nil
	}
	for _, text := range []**string{&c.MerchantID, &c.Username} {
		if *text != nil && **text == "" {
			*text = nil
		}
	}
	return c
}

// check returns the errors that do not depend on the stored configuration.
func (c *Change) check(slug Slug) (faults store.Errors) {
	for _, member := range c.credentials() {
		switch {
		case !member.given:
		case slug == Manual:
			faults = append(faults, store.Unprocessablef([]string{member.name}, "is only allowed for the card processor; the manual gateway has no credentials"))
		case member.length == 0:
			faults = append(faults, store.Unprocessablef([]string{member.name}, "must not be empty; omit it to keep the old value"))
		case member.length > authoring.MaxName:
			faults = append(faults, store.Unprocessablef([]string{member.name}, "must be at most %d bytes, got %d", authoring.MaxName, member.length))
		case !member.clean:
			faults = append(faults, store.Invalidf([]string{member.name}, "must be UTF-8 text without NUL"))
		}
	}
	if c.Name != nil && len(*c.Name) > authoring.MaxName {
		faults = append(faults, store.Unprocessablef([]string{"name"}, "must be at most %d bytes, got %d", authoring.MaxName, len(*c.Name)))
	}
	if c.Name != nil && !store.IsStorableText(*c.Name) {
		faults = append(faults, store.Invalidf([]string{"name"}, "must be UTF-8 text without NUL"))
	}
	return faults
}

// credential describes a credential without its value.
type credential struct {
	name         string
	given, clean bool // it is in the change; both databases can store it
	length       int  // bytes
}

// credentials returns the merchant id, the user name and the password, in this order.
func (c *Change) credentials() []credential {
	list := []credential{{name: "merchant_id"}, {name: "username"}, {name: "password"}}
	for i, text := range []*string{c.MerchantID, c.Username} {
		if text != nil {
			list[i].given, list[i].clean, list[i].length = true, store.IsStorableText(*text), len(*text)
		}
	}
	if c.Password != nil {
		list[2].given, list[2].clean, list[2].length = true, store.IsStorableText(c.Password.Reveal()), len(c.Password.Reveal())
	}
	return list
}

// complete returns UNPROCESSABLE for each credential that the card processor would lack after the change of g.
func (c *Change) complete(g *Gateway) error {
	if g.Slug != CardProcessor {
		return nil
	}
	var faults store.Errors
	has := []bool{g.MerchantID != "", g.Login != "", g.PasswordSet}
	for i, member := range c.credentials() {
		if !member.given && !has[i] {
			faults = append(faults, store.Unprocessablef([]string{member.name}, "is required to configure or enable the gateway"))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// applied returns the stored configuration after the change, without the password.
func (c *Change) applied(g *Gateway) *gatewaySource {
	source := &gatewaySource{Type: "gateway", Slug: string(g.Slug), Name: g.Name, Enabled: g.Enabled, Test: g.Test, MerchantID: g.MerchantID, Login: g.Login}
	if c.Name != nil && *c.Name != "" {
		source.Name = *c.Name
	}
	authoring.Assign(&source.Enabled, c.Enabled)
	authoring.Assign(&source.Test, c.Test)
	authoring.Assign(&source.MerchantID, c.MerchantID)
	authoring.Assign(&source.Login, c.Username)
	return source
}
