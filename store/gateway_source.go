package store

import "slices"

// gatewaySource is a gateway without its secrets.
type gatewaySource struct {
	Type       string `json:"type"`
	Slug       string `json:"slug"`
	Name       string `json:"name,omitempty"`
	Enabled    bool   `json:"enabled"`
	Test       bool   `json:"test"`
	MerchantID string `json:"merchant_id,omitempty"`
	Login      string `json:"login,omitempty"`
}

func (g *gatewaySource) key() string { return g.Slug }

func (g *gatewaySource) check(f *faults) {
	f.oneOf("slug", g.Slug, string(GatewayCardProcessor), string(GatewayManual))
	f.text("name", g.Name, maxName)
	f.text("merchant_id", g.MerchantID, maxName)
	f.text("login", g.Login, maxName)
}

// clientSource is an API client, with the hash of its secret where the export
// was asked for it.
type clientSource struct {
	Type       string   `json:"type"`
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Scopes     []string `json:"scopes"`
	SecretHash string   `json:"secret_hash,omitempty"`
	CreatedAt  string   `json:"created_at"`
	RevokedAt  string   `json:"revoked_at,omitempty"`
}

func (c *clientSource) key() string { return c.ID }

func (c *clientSource) check(f *faults) {
	f.id("id", &c.ID)
	f.required("name", c.Name, 255)
	for i, scope := range c.Scopes {
		if !slices.Contains(Scopes(), scope) {
			f.add("scopes."+itoa(i), "must be a known scope, not %q", short(scope))
		}
	}
	if c.CreatedAt == "" {
		f.add("created_at", "is required")
	}
	f.time("created_at", &c.CreatedAt)
	f.time("revoked_at", &c.RevokedAt)
}

// settingsSource is the store's settings.
type settingsSource struct {
	Type       string `json:"type"`
	ID         string `json:"id,omitempty"`
	PageLength int    `json:"page_length"`
	Currency   string `json:"currency"`
	Locale     string `json:"locale"`
}

func (s *settingsSource) key() string { return "settings" }

func (s *settingsSource) check(f *faults) {
	s.ID = ""
	f.between("page_length", s.PageLength, MinPageLength, MaxPageLength)
	f.currency("currency", s.Currency)
	f.locale("locale", s.Locale)
}
