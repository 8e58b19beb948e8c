package exchange_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/exchange/check"
	"portico/store/shop"
	"portico/store/storetest"
)

// sourceThen is the source of an import that calls then once the lines are merged, before the first is written.
func sourceThen(text string, then func()) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return &closingSource{strings.NewReader(text), then}, nil }
}

type closingSource struct {
	io.Reader
	then func()
}

func (s *closingSource) Close() error { s.then(); return nil }

// partOf returns a line with some members of a resource.
func partOf(kind, id, members string) string {
	key := "id"
	if kind == "gateway" {
		key = "slug"
	}
	return fmt.Sprintf(`{"type":%q,%q:%q,%s}`, kind, key, id, members)
}

// TestMergeKeepsChangesOfOthers changes each type of resource between the merge of its line and the write. The result is
// that of one import after the other.
func TestMergeKeepsChangesOfOthers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		var lines, others []string
		covered := map[string]bool{"stock_transaction": true} // its lines never change
		for _, c := range []struct{ kind, id, line, other string }{
			{"settings", "settings", `"currency":"CHF"`, `"page_length":31`},
			{"file", "photo-1", `"file_name":"b.jpg"`, `"public":false`},
			{"attribute", "brand", `"attributes":{"label":"Maker"}`, `"attributes":{"searchable":true}`},
			{"product", "anvil", `"attributes":{"external_ref":"x"}`, `"attributes":{"name":"Big anvil"}`},
			{"hierarchy", "workshop", `"attributes":{"description":"Loud."}`, `"attributes":{"name":"Shed"}`},
			{"node", "paints", `"attributes":{"name":"Colours"}`, `"relationships":{"products":{"data":[{"type":"product","id":"chalk"}]}}`},
			{"synonym", "lutes", `"attributes":{"locale":"fr"}`, `"attributes":{"terms":["zither","lute"]}`},
			{"redirect", "help", `"attributes":{"from":"aid"}`, `"attributes":{"to":"https://help.example/"}`},
			{"pricebook", "standard", `"attributes":{"description":"x"}`, `"attributes":{"name":"All"}`},
			{"product-price", "vip-anvil", `"attributes":{"currencies":{"USD":{"amount":7}}}`, `"attributes":{"currencies":{"EUR":{"amount":5}}}`},
			{"price_modifier", "bulk-1", `"attributes":{"name":"large"}`, `"attributes":{"currencies":{"EUR":{"amount":5}}}`},
			{"catalog", "outlet", `"attributes":{"name":"Shop"}`, `"attributes":{"currency":"CHF"}`},
			{"catalog_rule", "club", `"attributes":{"name":"Members"}`, `"attributes":{"channels":["app"]}`},
			{"stock", "anvil", `"created_at":"2020-01-01T00:00:00Z"`, `"allocated":3,"total":10`},
			{"promotion", "ten-off", `"name":"Tenner"`, `"description":"Sent by mail"`},
			{"promotion_code", "code-1", `"user":"bob"`, `"uses":1`},
			{"code_usage", "usage-1", `"reference":"order 2"`, `"user":"u2"`},
			{"gateway", "card_processor", `"merchant_id":"them"`, `"login":"me"`},
			{"api_client", "till", `"name":"Robot"`, `"scopes":["catalog:read"]`},
		} {
			covered[c.kind] = true
			lines, others = append(lines, partOf(c.kind, c.id, c.line)), append(others, partOf(c.kind, c.id, c.other))
		}
		for _, kind := range exchange.KindNames() {
			require.True(t, covered[kind], "no case for %s", kind)
		}
		merging := exchange.ImportOptions{Merge: true, Stock: true, Settings: true}
		rows := exchange.ImportOptions{Stock: true, Settings: true, Row: func(int) check.SheetRow { return check.SheetRow{IsRow: true} }}
		for name, options := range map[string]exchange.ImportOptions{"merge": merging, "rows of sheets": rows} {
			t.Run(name, func(t *testing.T) {
				s, ordered := storetest.OpenEmpty(t, backend), storetest.OpenEmpty(t, backend)
				storetest.Import(t, s, storetest.ShopFile)
				storetest.Import(t, ordered, storetest.ShopFile)
				load := func(s *shop.Store, source func() (io.ReadCloser, error), options exchange.ImportOptions) {
					_, err := s.Exchange.Import(t.Context(), storetest.Actor, source, options)
					require.NoError(t, err)
				}
				load(ordered, storetest.Source(storetest.JoinLines(others...)), merging)
				load(ordered, storetest.Source(storetest.JoinLines(lines...)), options)
				load(s, sourceThen(storetest.JoinLines(lines...), func() { load(s, storetest.Source(storetest.JoinLines(others...)), merging) }), options)
				require.Equal(t, withoutTimes(t, ordered), withoutTimes(t, s))
			})
		}
	})
}

// ofNow are the times of changes, and the entries of the ledger that an import writes.
var ofNow = regexp.MustCompile(`"updated_at":"[^"]*"|.*"reason":"import".*`)

func withoutTimes(t *testing.T, s *shop.Store) []string {
	return strings.Split(ofNow.ReplaceAllString(storetest.Export(t, s), ""), "\n")
}

// TestMergeOntoWhatOthersWrote checks lines whose resource another write created, deleted or made incompatible after
// they were merged.
func TestMergeOntoWhatOthersWrote(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		const tagged = `,"tags":["a"]`
		mug := product("mug", ``, ``)
		for _, c := range []struct {
			name, stored, lines, other string
			rows                       map[int]bool // rows of a sheet by line; nil for a merging import
			want, err                  string
		}{
			{name: "created", lines: mug, other: product("mug", tagged, ``), want: tagged},
			{name: "created, and lines that complete it", lines: mug + "\n" + partOf("product", "mug", `"attributes":{"name":"B"}`), other: product("mug", tagged, ``), want: `"name":"B"`},
			{name: "deleted", stored: mug, lines: "\n" + partOf("product", "mug", `"attributes":{"name":"B"}`), other: `{"type":"product","id":"mug","deleted":true}`,
				err: "2  The resource was deleted during the import. Import again, without the line."},
			{name: "deleted, and the line is whole", stored: mug, lines: product("mug", tagged, ``), other: `{"type":"product","id":"mug","deleted":true}`, want: tagged},
			{name: "several lines", stored: mug, lines: partOf("product", "mug", `"attributes":{"name":"B"}`) + "\n" + partOf("product", "mug", `"attributes":{"external_ref":"x"}`),
				other: product("mug", tagged, ``), want: `"name":"B","sku":"SKU-MUG","slug":"mug","status":"live","external_ref":"x"` + tagged},
			{name: "a row after a whole line", stored: mug, lines: product("mug", `,"description":"x"`, ``) + "\n" + partOf("product", "mug", `"attributes":{"name":"B"}`),
				other: product("mug", tagged, ``), rows: map[int]bool{2: true}, want: `"name":"B","sku":"SKU-MUG","slug":"mug","status":"live","description":"x","base_product"`},
			{name: "a whole line after a row", stored: mug, lines: partOf("product", "mug", `"attributes":{"name":"B"}`) + "\n" + product("mug", `,"description":"x"`, ``),
				other: product("mug", tagged, ``), rows: map[int]bool{1: true}, want: `"name":"A","sku":"SKU-MUG","slug":"mug","status":"live","description":"x","base_product"`},
			{name: "incompatible", stored: product("mug", `,"components":{"c":{"name":"C","min":1,"max":3,"options":[{"id":"x","type":"product","quantity":1}]}}`, ``),
				lines: partOf("product", "mug", `"attributes":{"components":{"c":{"min":2}}}`), other: partOf("product", "mug", `"attributes":{"components":{"c":{"max":1}}}`),
				err: "1 attributes.components.c.max"},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := storetest.OpenEmpty(t, backend)
				storetest.Import(t, s, c.stored)
				options := exchange.ImportOptions{Merge: c.rows == nil, Batch: 1}
				if c.rows != nil {
					options.Row = func(line int) check.SheetRow { return check.SheetRow{IsRow: c.rows[line]} }
				}
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, sourceThen(c.lines, func() {
					storetest.ImportWithOptions(t, s, c.other, func(o *exchange.ImportOptions) { o.Merge = true })
				}), options)
				if c.err != "" {
					require.Contains(t, strings.Join(errorTexts(t, err), "\n"), c.err)
					return
				}
				require.NoError(t, err)
				require.Contains(t, exported(t, s, "product", "mug"), c.want)
			})
		}
	})
}

// TestMergeDuringMutations upserts products while an import changes another member of them, a few lines in a transaction.
// Both keep what they wrote.
func TestMergeDuringMutations(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		const products, writers = 120, 4
		var stored, lines []string
		for i := range products {
			stored, lines = append(stored, product(fmt.Sprint("p", i), ``, ``)), append(lines, partOf("product", fmt.Sprint("p", i), `"attributes":{"external_ref":"x"}`))
		}
		storetest.Import(t, s, storetest.JoinLines(stored...))
		done := make(chan error, writers)
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, sourceThen(storetest.JoinLines(lines...), func() {
			for w := range writers {
				go func() {
					for i := w; i < products; i += writers {
						if _, err := s.Exchange.UpsertProducts(context.WithoutCancel(t.Context()), storetest.Actor, []*exchange.ProductItemInput{{ID: new(fmt.Sprint("p", i)), ProductTexts: catalog.ProductTexts[*string]{Description: new("kept")}}}, nil, false); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
		}), exchange.ImportOptions{Merge: true, Batch: 5})
		require.NoError(t, err)
		for range writers {
			require.NoError(t, <-done)
		}
		text := storetest.Export(t, s)
		require.Equal(t, []int{products, products}, []int{strings.Count(text, `"description":"kept"`), strings.Count(text, `"external_ref":"x"`)})
	})
}
