package shop

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

var gatewayKind = kind{
	name: "gateway", create: func() source { return &gatewaySource{} },
	write: gatewayTable.write, export: bodies("gateway", "slug"),
}

func (g *gatewaySource) key() string { return g.Slug }

func (g *gatewaySource) check(f *faults) {
	f.oneOf("slug", g.Slug, string(GatewayCardProcessor), string(GatewayManual))
	f.text("name", g.Name, maxName)
	f.text("merchant_id", g.MerchantID, maxName)
	f.text("login", g.Login, maxName)
}

var (
	gatewayTable = sourceTable{name: "gateway", columns: []string{"slug", "body"}, row: rowWhole}
)
