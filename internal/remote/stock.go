package remote

import "context"

// stock is a stock record, on both sides. Servers with several locations have the units in attributes.
type stock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Available int    `json:"available"`
	Allocated int    `json:"allocated"`
	Total     int    `json:"total"`
}

// fetchStock writes the stock of all products.
func (f *fetcher) fetchStock(ctx context.Context) error {
	known, err := f.folder.ids("stock")
	if err == nil {
		err = f.loadKnown()
	}
	if err != nil {
		return err
	}
	err = f.each(ctx, "stock", "stock records", resourceList{path: "/v2/inventories"}, func(p *page) error {
		for _, raw := range p.Data {
			var row struct {
				stock
				Attributes *stock `json:"attributes"`
			}
			if err := decodeRow("stock record", raw, &row); err != nil {
				return err
			}
			if known[row.ID] {
				continue
			}
			if known[row.ID] = true; !f.products[row.ID] {
				f.folder.state.Counts["stock of others"]++
			}
			units := row.stock
			if row.Attributes != nil {
				units.Available, units.Allocated = row.Attributes.Available, row.Attributes.Allocated
			}
			units.Type, units.Total = "stock", units.Available+units.Allocated
			if err := f.folder.write("stock", units); err != nil {
				return err
			}
		}
		return nil
	})
	return f.optional("stock", err)
}
