package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// stock is a stock record, as the server sends it and as the import format has it. Servers with several locations have the
// units in attributes.
type stock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Available int    `json:"available"`
	Allocated int    `json:"allocated"`
	Total     int    `json:"total"`
}

// unreadStock counts the stock records that the server has, but that were not read.
const unreadStock = "cut.stock records"

// fetchStock writes the stock that the server lists, then by id that of the products which the list leaves out, and counts what
// is left. A server that refuses stock, or stock by id, is no error.
func (f *fetcher) fetchStock(ctx context.Context) error {
	known, err := f.folder.ids("stock")
	if err == nil {
		err = f.loadKnown()
	}
	if err != nil {
		return err
	}
	counts := f.folder.state.Counts
	err = f.each(ctx, "stock", "stock records", resourceList{path: "/v2/inventories"}, func(p *page) error {
		err := f.writeStock(p.Data, known)
		if p.next == nil { // pages by offset may skip rows, even in a short list
			counts[unreadStock] = max(p.left, p.total-len(known))
		}
		return err
	})
	if err != nil || counts[unreadStock] == 0 {
		return f.optional("stock", err)
	}
	err = f.fetchStockByID(ctx, known)
	if isUnknown(err) {
		f.refused("stock by id", err)
		return nil
	}
	return f.optional("stock by id", err)
}

// fetchStockByID writes the stock of the catalog's products whose records are not known, and takes them off the count of unread
// ones. Lists of stock end at the largest offset, and the interface does not sort or filter them.
func (f *fetcher) fetchStockByID(ctx context.Context, known map[string]bool) error {
	state := &f.folder.state
	var products []string
	for id := range f.products {
		if !known[id] && id > state.StockAfter {
			products = append(products, id)
		}
	}
	slices.Sort(products)
	f.say(fmt.Sprintf("stock: %d records are not in the list; reading %d products by id", state.Counts[unreadStock], len(products)))
	type key struct {
		ID string `json:"id"`
	}
	for ids := range slices.Chunk(products, pageLength) {
		var body struct {
			Data []key `json:"data"`
		}
		for _, id := range ids {
			body.Data = append(body.Data, key{id})
		}
		p, before := &page{}, len(known)
		if err := f.do(ctx, request{path: "/v2/inventories/multiple", body: body}, p); err != nil {
			return err
		}
		if err := f.writeStock(p.Data, known); err != nil {
			return err
		}
		state.Counts[unreadStock] = max(0, state.Counts[unreadStock]-(len(known)-before))
		state.StockAfter = ids[len(ids)-1]
		if err := f.folder.commit(); err != nil {
			return err
		}
	}
	return nil
}

// writeStock writes records that are not known yet, and adds them to known. It counts those of products that are not in the
// catalog.
func (f *fetcher) writeStock(rows []json.RawMessage, known map[string]bool) error {
	for _, raw := range rows {
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
		known[row.ID] = true
		if !f.products[row.ID] {
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
}
