package gateway

import (
	"portico/store"
	"portico/store/authoring"
)

// gatewaySource is a gateway in an import file, without its password.
type gatewaySource struct {
	Type       string `json:"type"`
	Slug       string `json:"slug"`
	Name       string `json:"name,omitempty"`
	Enabled    bool   `json:"enabled"`
	Test       bool   `json:"test"`
	MerchantID string `json:"merchant_id,omitempty"`
	Login      string `json:"login,omitempty"`
}

// Kind imports and exports gateways without their passwords.
var Kind = authoring.Kind{
	Name: "gateway", Create: func() authoring.Source { return &gatewaySource{} },
	Write: gatewayTable.Write, Export: authoring.ExportBodies("gateway", "slug"), Column: "slug",
	Inputs: store.PathRenames{{"login", "username"}},
}

func (g *gatewaySource) Key() string { return g.Slug }

func (g *gatewaySource) Check(f *authoring.Validator) {
	f.OneOf("slug", g.Slug, string(CardProcessor), string(Manual))
	f.Text("name", g.Name, authoring.MaxName)
	f.Text("merchant_id", g.MerchantID, authoring.MaxName)
	f.Text("login", g.Login, authoring.MaxName)
}

var gatewayTable = authoring.Table{Name: "gateway", Columns: []string{"slug", "body"}, Row: authoring.RowWhole}
