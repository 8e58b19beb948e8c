package remote

import (
	"context"
	"slices"

	"portico/store/gateway"
)

// gatewayLine is a gateway, as the server sends it and as the import format has it. The interface does not show its secrets.
type gatewayLine struct {
	Type       string `json:"type"`
	Slug       string `json:"slug"`
	Name       string `json:"name,omitempty"`
	Enabled    bool   `json:"enabled"`
	Test       bool   `json:"test"`
	MerchantID string `json:"merchant_id,omitempty"`
	Login      string `json:"login,omitempty"`
}

// fetchGateways writes the gateways that Portico has too, and counts the others, and those whose password is missing.
func (f *fetcher) fetchGateways(ctx context.Context) error {
	err := f.each(ctx, "gateways", "gateways", resourceList{path: "/v2/gateways"}, func(p *page) error {
		for _, raw := range p.Data {
			var g gatewayLine
			if err := decodeRow("gateway", raw, &g); err != nil {
				return err
			}
			if !slices.Contains(gateway.Slugs(), gateway.Slug(g.Slug)) {
				f.folder.state.Counts["unknown gateways"]++
				continue
			}
			if g.Enabled && g.Slug == string(gateway.CardProcessor) {
				f.folder.state.Counts["gateways without secret"]++
			}
			g.Type = "gateway"
			if err := f.folder.write("gateways", g); err != nil {
				return err
			}
		}
		return nil
	})
	return f.optional("gateways", err)
}
