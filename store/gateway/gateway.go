// Package gateway is the payment gateways and their sealed secrets. It may
// import the words of store, store/authoring, store/db and store/seal.
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

// GatewayService is the gateways of one database.
type GatewayService struct {
	db     *db.DB
	sealer *seal.Sealer // of their secrets; nil for a process that has no use for them
}

// NewGatewayService is of a process that may have no use for secrets: the
// sealer is nil then.
func NewGatewayService(d *db.DB, sealer *seal.Sealer) *GatewayService {
	return &GatewayService{db: d, sealer: sealer}
}

// GatewaySlug names a payment gateway.
type GatewaySlug string

// The gateways there are; the set is the server's (DESIGN 7).
const (
	GatewayCardProcessor GatewaySlug = "card_processor" // takes credentials
	GatewayManual        GatewaySlug = "manual"         // takes none
)

// GatewaySlugs lists them, in the order in which they are shown.
func GatewaySlugs() []GatewaySlug { return []GatewaySlug{GatewayCardProcessor, GatewayManual} }

// Gateway is the configuration of a payment gateway, as far as readers may
// know it.
type Gateway struct {
	Slug        GatewaySlug
	Name        string
	Enabled     bool
	Test        bool
	MerchantID  string
	Login       string // the username
	PasswordSet bool
	Fingerprint string    // tells one password from another, and nothing more; empty without one
	ChangedAt   time.Time // of the configuration; zero while it has none
	ChangedBy   store.Actor
}

// Configured tells whether it was ever configured.
func (g *Gateway) Configured() bool { return !g.ChangedAt.IsZero() }

// GatewayChange names what to change; nil leaves a member as it is.
type GatewayChange struct {
	Name       *string `json:"name,omitempty"` // an empty one leaves it, too
	Enabled    *bool   `json:"enabled,omitempty"`
	Test       *bool   `json:"test,omitempty"`
	MerchantID *string `json:"merchantId,omitempty"`
	Username   *string `json:"username,omitempty"`
	Password   *Secret `json:"password,omitempty"` // SecretMask leaves it, too

	Nulls store.Nulls `json:"-"`
}

// applyNulls clears the members that are null: the name is the gateway's own
// again, and the switches are off.
func (c *GatewayChange) applyNulls(slug GatewaySlug) error {
	name := slug.defaultName()
	return c.Nulls.Apply([]string{"merchant_id", "username", "password"}, map[string]func(){
		"name": func() { c.Name = &name }, "enabled": store.Clear(&c.Enabled), "test": store.Clear(&c.Test)})
}

// defaultNames are the names of gateways that were given none.
func (slug GatewaySlug) defaultName() string {
	if slug == GatewayManual {
		return "Manual"
	}
	return "Card Processor"
}

// Gateways lists every gateway; those that are not configured are disabled.
func (s *GatewayService) Gateways(ctx context.Context) ([]*Gateway, error) {
	kept, err := db.Collect(ctx, s.db.Reader, s.scanGateway, `SELECT `+gatewayColumns+` FROM gateway ORDER BY slug`)
	if err != nil {
		return nil, err
	}
	list := make([]*Gateway, 0, len(GatewaySlugs()))
	for _, slug := range GatewaySlugs() {
		at := slices.IndexFunc(kept, func(g *Gateway) bool { return g.Slug == slug })
		if at >= 0 {
			list = append(list, kept[at])
		} else {
			list = append(list, &Gateway{Slug: slug, Name: slug.defaultName()})
		}
	}
	return list, nil
}

// Gateway returns one of them; NOT_FOUND for an unknown slug.
func (s *GatewayService) Gateway(ctx context.Context, slug string) (*Gateway, error) {
	list, err := s.Gateways(ctx)
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

// UnknownGateway is NOT_FOUND, and names the slugs that there are. It does not
// quote the one that was asked for: errors about gateways quote nothing that
// was sent.
func UnknownGateway() error {
	var names []string
	for _, slug := range GatewaySlugs() {
		names = append(names, string(slug))
	}
	return store.NotFoundf([]string{"slug"}, "names no gateway; there are %s", strings.Join(names, " and "))
}

const gatewayColumns = `slug, body, sealed, changed_at, changed_by`

// scanGateway reads a row. The password is opened for its fingerprint only,
// and only by a store that has the key.
func (s *GatewayService) scanGateway(rows *sql.Rows) (*Gateway, error) {
	var body, sealed []byte
	var changed int64
	g := &Gateway{}
	if err := rows.Scan(&g.Slug, &body, &sealed, &changed, &g.ChangedBy); err != nil {
		return nil, err
	}
	var source gatewaySource
	if err := json.Unmarshal(body, &source); err != nil {
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

// PasswordField names a gateway's password to the sealer.
func (slug GatewaySlug) PasswordField() string { return "gateway/" + string(slug) + "/password" }

// UpdateGateway changes the members given and returns the configuration. The
// password is sealed before it is written.
//
// NOT_FOUND for an unknown slug; UNPROCESSABLE for an empty credential, and
// for each one that is missing when the card processor is first configured.
func (s *GatewayService) UpdateGateway(ctx context.Context, actor store.Actor, slug string, change GatewayChange) (*Gateway, error) {
	if s.sealer == nil {
		return nil, errors.New("a gateway is configured by a server, which has the key that seals secrets")
	}
	if _, err := s.Gateway(ctx, slug); err != nil {
		return nil, err
	}
	if err := change.applyNulls(GatewaySlug(slug)); err != nil {
		return nil, err
	}
	change = change.meant(GatewaySlug(slug))
	if faults := change.check(GatewaySlug(slug)); len(faults) > 0 {
		return nil, faults
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Gateway, error) {
		key, err := db.CurrentKey(ctx, t, s.sealer)
		if err != nil {
			return nil, err
		}
		// The row is made first, so that two changes of it come one by one.
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
		if change.Password != nil {
			if _, err := t.Exec(ctx, `UPDATE gateway SET sealed = $2 WHERE slug = $1`,
				slug, key.Seal(g.Slug.PasswordField(), []byte(change.Password.Reveal()))); err != nil {
				return nil, err
			}
		}
		after, _, err := db.One(ctx, t.Session, s.scanGateway, `
			UPDATE gateway SET body = $2, changed_at = $3, changed_by = $4 WHERE slug = $1
			RETURNING `+gatewayColumns, slug, string(store.Encode(change.applied(g))), store.Micros(t.Now), string(t.Actor))
		return after, err
	})
}

// SecretMark tells one secret from another, and nothing else of it; empty for
// none, and for SecretMask.
func (s *GatewayService) SecretMark(secret *Secret) string {
	if secret = secret.Given(); secret == nil || s.sealer == nil {
		return ""
	}
	return s.sealer.Preferred().Fingerprint("mark", []byte(secret.Reveal()))
}

// meant is the change without what only says how things are: the mask in
// place of the password, and the empty credentials of a gateway that takes
// none. Clients send back whole what they read.
func (c GatewayChange) meant(slug GatewaySlug) GatewayChange {
	c.Password = c.Password.Given()
	if slug != GatewayManual {
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

// check finds what is wrong with a change whatever is there.
func (c *GatewayChange) check(slug GatewaySlug) (faults store.Errors) {
	for _, member := range c.credentials() {
		switch {
		case !member.given:
		case slug == GatewayManual:
			faults = append(faults, store.Unprocessablef([]string{member.name}, "belongs to the card processor; the manual gateway takes no credentials"))
		case member.length == 0:
			faults = append(faults, store.Unprocessablef([]string{member.name}, "must not be empty; leave it out to keep what is there"))
		case member.length > authoring.MaxName:
			faults = append(faults, store.Unprocessablef([]string{member.name}, "must be at most %d bytes, not %d", authoring.MaxName, member.length))
		case !member.clean:
			faults = append(faults, store.Invalidf([]string{member.name}, "must be UTF-8 text without NUL"))
		}
	}
	if c.Name != nil && len(*c.Name) > authoring.MaxName {
		faults = append(faults, store.Unprocessablef([]string{"name"}, "must be at most %d bytes, not %d", authoring.MaxName, len(*c.Name)))
	}
	if c.Name != nil && !store.IsStorableText(*c.Name) {
		faults = append(faults, store.Invalidf([]string{"name"}, "must be UTF-8 text without NUL"))
	}
	return faults
}

// credential is what may be told of a credential that was given.
type credential struct {
	name         string
	given, clean bool
	length       int
}

func (c *GatewayChange) credentials() []credential {
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

// complete is UNPROCESSABLE for each credential that the card processor would
// be without.
func (c *GatewayChange) complete(g *Gateway) error {
	if g.Slug != GatewayCardProcessor {
		return nil
	}
	var faults store.Errors
	has := []bool{g.MerchantID != "", g.Login != "", g.PasswordSet}
	for i, member := range c.credentials() {
		if !member.given && !has[i] {
			faults = append(faults, store.Unprocessablef([]string{member.name}, "is required by the time the gateway is configured or enabled"))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// applied is the configuration after the change, as it is kept; the password
// is kept apart.
func (c *GatewayChange) applied(g *Gateway) *gatewaySource {
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
