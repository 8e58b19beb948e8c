package exchange_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// sheetFile is a file in memory.
type sheetFile struct{ bytes.Buffer }

func (*sheetFile) Close() error { return nil }

// exportSheets returns the files of an export by type; the rest is under "".
func exportSheets(t *testing.T, s *shop.Store) map[string]*sheetFile {
	t.Helper()
	files := map[string]*sheetFile{}
	count, err := s.Exchange.ExportSheets(t.Context(), func(kind string) (io.WriteCloser, error) {
		files[kind] = &sheetFile{}
		return files[kind], nil
	}, exchange.ExportOptions{WithClients: true})
	require.NoError(t, err)
	require.NotZero(t, count)
	return files
}

// importSheets imports files as the import command does: one after the other, in the order of their types.
func importSheets(t *testing.T, s *shop.Store, files map[string]string, change ...func(*exchange.ImportOptions)) (*exchange.ImportReport, error) {
	t.Helper()
	reader := &sheet.Reader{IDs: func(ctx context.Context, keys []sheet.Key) (map[sheet.Key]string, error) {
		return s.Exchange.SheetIDs(ctx, keys)
	}}
	var all bytes.Buffer
	var rows []check.SheetRow // by line
	for _, kind := range slices.Sorted(maps.Keys(files)) {
		text := files[kind]
		if kind != "" {
			var out bytes.Buffer
			found, err := reader.Read(t.Context(), strings.NewReader(text), &out)
			require.NoError(t, err)
			text = out.String()
			for line := 1; line <= strings.Count(text, "\n"); line++ {
				rows = append(rows, check.SheetRow{IsRow: true, Continued: found.Continued[line], Faults: found.Faults[line]})
			}
		} else {
			rows = append(rows, make([]check.SheetRow, strings.Count(text, "\n"))...)
		}
		all.WriteString(text)
	}
	options := exchange.ImportOptions{Stock: true, Settings: true, Strict: true, Row: func(line int) check.SheetRow { return rows[line-1] }}
	for _, change := range change {
		change(&options)
	}
	return s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(all.String()), options)
}

// TestSheets checks that a shop as sheets is the same shop, and what a row changes.
func TestSheets(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a shop exported as sheets is the same shop", sheetsRoundTrip(backend))
		t.Run("rows change the members of their columns", rowsChangeMembers(backend))
		t.Run("ids of new resources", idsOfNewResources(backend))
	})
}

func sheetsRoundTrip(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, other := backend.Open(t), storetest.OpenEmpty(t, backend)
		storetest.Import(t, s, storetest.ShopFile+storetest.GenerateShop(t, testkit.QuickOrFull(60, 600), 3))
		storetest.Import(t, s, `{"type":"product","id":"hostile","attributes":{"name":"#NAME?","sku":"-5","slug":"hostile","status":"live","description":"=1+1\r\na \"b\"\nc\r","tags":["@x","'=y"],"external_ref":"''+z"}}
{"type":"product","id":"spaced-1","attributes":{"name":" Mug ","sku":"Mug ","slug":"spaced-1","status":"live","description":" "},"relationships":{"related":{"goes with ":["hostile"]}}}
{"type":"product","id":"spaced-2","attributes":{"name":"Mug","sku":" Mug","slug":"spaced-2","status":"live"}}
{"type":"product","id":"spaced-3","attributes":{"name":"Mug","sku":"Mug","slug":"spaced-3","status":"live"}}
{"type":"pricebook","id":"hostile","attributes":{"name":"-Book"}}
{"type":"product-price","id":"spaced","attributes":{"sku":"Mug ","currencies":{},"sales":{" later":{"schedule":{"valid_from":"2030-01-01T00:00:00Z"},"currencies":{"USD":{"amount":5,"tiers":{" a ":{"minimum_quantity":2,"amount":4}}}}},"later":{"schedule":{"valid_from":"2031-01-01T00:00:00Z"},"currencies":{"USD":{"amount":6}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"hostile"}}}}
{"type":"product-price","id":"hostile","attributes":{"sku":"-5","currencies":{"USD":{"amount":900,"tiers":{"a:b":{"minimum_quantity":2,"amount":800},":amount":{"minimum_quantity":3,"amount":700}}}},"sales":{"=later":{"schedule":{"valid_from":"2030-01-01T00:00:00Z"},"currencies":{}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"hostile"}}}}
{"type":"product-price","id":"hostile-sale","attributes":{"sku":"-6","currencies":{},"sales":{"all":{"schedule":{"valid_to":"2030-01-01T00:00:00Z"},"currencies":{}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"hostile"}}}}
`)
		files := map[string]string{}
		for kind, file := range exportSheets(t, s) {
			files[kind] = file.String()
		}
		for _, kind := range sheet.Kinds() {
			require.NotEmpty(t, files[kind], kind)
		}
		lenient := func(o *exchange.ImportOptions) { o.Strict = false } // the shop has likely mistakes of its own
		_, err := importSheets(t, other, files, lenient)
		require.NoError(t, err)
		storetest.RequireSameLines(t, storetest.Export(t, s), storetest.Export(t, other))
		report, err := importSheets(t, other, files, lenient)
		require.NoError(t, err)
		require.Zero(t, report.Changed, "an import of the same sheets changes nothing")
		for kind, file := range exportSheets(t, other) {
			require.Equal(t, files[kind], file.String())
		}
	}
}

func rowsChangeMembers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, `{"type":"product","id":"mug","attributes":{"name":"Mug","sku":"MUG-1","slug":"mug","status":"live","description":"Old","tags":["a"],"created_at":"2026-01-01T00:00:00Z","locales":{"fr":{"name":"Tasse"}},"extensions":{"care":"cold"}}}
{"type":"pricebook","id":"list","attributes":{"name":"List"}}
{"type":"product-price","id":"p","attributes":{"sku":"MUG-1","currencies":{"USD":{"amount":1000,"tiers":{"dozen":{"minimum_quantity":12,"amount":900}}},"EUR":{"amount":900}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}
`)
		_, err := importSheets(t, s, map[string]string{
			"product":       "sku,description,tags,name:fr\nMUG-1,New,,\n",
			"product-price": "pricebook,sku,currency,amount,tier:dozen:minimum_quantity,tier:dozen:amount\nlist,MUG-1,USD,1100,,\nlist,MUG-1,CHF,1200,,\n",
		})
		require.NoError(t, err)
		export := storetest.Export(t, s)
		for _, want := range []string{`"id":"mug","attributes":{"name":"Mug","sku":"MUG-1"`, `"description":"New"`, `"extensions":{"care":"cold"}`,
			`"id":"p","attributes":{"sku":"MUG-1","currencies":{"CHF":{"amount":1200,"includes_tax":false},"EUR":{"amount":900,"includes_tax":false},"USD":{"amount":1100,"includes_tax":false}}}`} {
			require.Contains(t, export, want)
		}
		for _, gone := range []string{`"tags"`, "Tasse", `"locales"`, "dozen"} {
			require.NotContains(t, export, gone, "an empty cell clears its member")
		}

		_, err = importSheets(t, s, map[string]string{"": `{"type":"product","id":"mug","attributes":{"name":"Cup","sku":"MUG-1","slug":"mug","status":"live"}}` + "\n", "product": "sku,description\nMUG-1,Newest\n"}, func(o *exchange.ImportOptions) { o.Strict = false }) // of an id in two lines it warns
		require.NoError(t, err)
		export = storetest.Export(t, s)
		require.Contains(t, export, `"name":"Cup"`, "lines of NDJSON replace the resource")
		require.Contains(t, export, `"description":"Newest"`, "and later rows change it")
		require.NotContains(t, export, "extensions")

		_, err = importSheets(t, s, map[string]string{"product": "sku,description,status\nMUG-1,X,maybe\nTEA-1,Y\n"})
		found := storetest.ImportErrors(t, err)
		require.Len(t, found, 2)
		require.Equal(t, []int{2, 3}, []int{found[0].Line, found[1].Line})
		require.Equal(t, export, storetest.Export(t, s), "nothing is written")
	}
}

func idsOfNewResources(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, `{"type":"product","id":"OLD-1","attributes":{"name":"A","sku":"A-1","slug":"a","status":"live"}}
{"type":"product","id":"b","attributes":{"name":"B","sku":"B-1","slug":"b","status":"live"}}
`)
		storetest.Import(t, s, `{"type":"promotion","id":"ten","name":"Ten","description":"","automatic":false,"enabled":true,"start":"2020-01-01","end":"2099-01-01","promotion_type":"fixed_discount","schema":{"currencies":[{"currency":"EUR","amount":100}]}}
{"type":"promotion_code","id":"c","promotion_id":"ten","code":"SAVE"}
{"type":"redirect","id":"r","attributes":{"from":"old","to":"new"}}
{"type":"synonym","id":"s","attributes":{"kind":"equivalent","terms":["sofa","couch"]}}
`)
		product := func(sku string) sheet.Key { return sheet.Key{Kind: "product", Value: sku} }
		code := func(code string) sheet.Key { return sheet.Key{Kind: "promotion_code", In: "ten", Value: code} }
		price := sheet.Key{Kind: "product-price", In: "list", Value: "B-1"}
		ids, err := s.Exchange.SheetIDs(t.Context(), []sheet.Key{product("B-1"), product("NEW-1"), product("OLD-1"), product("Größe 5"), price, code("SAVE"), code("MORE"), sheet.RedirectKey("/old"), sheet.SynonymKey("", "", []string{"couch", "sofa"}), sheet.SynonymKey("de", "", []string{"couch", "sofa"})})
		require.NoError(t, err)
		require.Equal(t, "b", ids[product("B-1")], "the stored one")
		require.Equal(t, "NEW-1", ids[product("NEW-1")])
		require.Len(t, ids[product("OLD-1")], 36, "another product has the SKU as its id")
		require.Len(t, ids[product("Größe 5")], 36, "no id")
		require.Equal(t, "list-B-1", ids[price])
		require.Equal(t, []string{"c", "ten-MORE", "r", "s"}, []string{ids[code("SAVE")], ids[code("MORE")], ids[sheet.RedirectKey("old")], ids[sheet.SynonymKey("", "", []string{"sofa", "couch"})]})
		require.Len(t, ids[sheet.SynonymKey("de", "", []string{"sofa", "couch"})], 36)

		// No two keys have one id, whatever their texts contain.
		alike := []sheet.Key{
			{Kind: "product-price", In: "list", Value: "a-b"}, {Kind: "product-price", In: "list-a", Value: "b"},
			{Kind: "promotion_code", In: "ten", Value: "A-B"}, {Kind: "promotion_code", In: "ten-A", Value: "B"},
			sheet.SynonymKey("de", "x", nil), sheet.SynonymKey("", "de-x", nil), sheet.SynonymKey("", "", []string{"a|b"}),
			sheet.SynonymKey("", "", []string{"a", "b"}), sheet.SynonymKey("", "=a|b", nil), sheet.SynonymKey("", "a", nil),
		}
		ids, err = s.Exchange.SheetIDs(t.Context(), alike)
		require.NoError(t, err)
		require.Len(t, store.SetOf(slices.Collect(maps.Values(ids))), len(alike), "%v", ids)
	}
}

var (
	columnRow    = regexp.MustCompile("(?m)^\\| `([a-z_-]+)` \\| (\\*\\*.*) \\|$")
	columnNeeded = regexp.MustCompile("(\\*\\*?)`([^`]+)`\\*")
)

// TestDocumentedColumns checks the columns that docs/csv.md says a file needs: with all of them new resources are imported, without
// any one they are not, and those in bold are enough for stored resources.
func TestDocumentedColumns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/csv.md")
	require.NoError(t, err)
	rows := columnRow.FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, len(sheet.Kinds()))
	values := map[string]string{"sku": "MUG", "name": "N", "status": "live", "pricebook": "list", "currency": "USD", "amount": "1", "available": "1", "promotion_id": "ten", "code": "SAVE",
		"attribute_type": "text", "id": "x", "label": "L", "hierarchy": "h", "file_name": "a.jpg", "href": "https://x.example/a.jpg", "terms": "sofa|couch", "from": "old", "to": "new"}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.JoinLines(`{"type":"pricebook","id":"list","attributes":{"name":"List"}}`, `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, storetest.PromotionLine("ten", ``)))
		for _, row := range rows {
			kind := row[1]
			imports := func(columns []string) (*exchange.ImportReport, error) {
				var fields []string
				for _, column := range columns {
					require.NotEmpty(t, values[column], "%s.%s", kind, column)
					fields = append(fields, values[column])
				}
				return importSheets(t, s, map[string]string{kind: strings.Join(columns, ",") + "\n" + strings.Join(fields, ",") + "\n"}, func(o *exchange.ImportOptions) { o.Strict = false })
			}
			var bold, needed []string
			for _, column := range columnNeeded.FindAllStringSubmatch(row[2], -1) {
				if needed = append(needed, column[2]); column[1] == "**" {
					bold = append(bold, column[2])
				}
			}
			for i, column := range needed {
				report, err := imports(slices.Delete(slices.Clone(needed), i, i+1))
				require.True(t, err != nil || report.Resources[kind] == 0, "%s without %s", kind, column) // or it is a sheet of another type
			}
			for _, columns := range [][]string{needed, bold} { // new, then stored
				report, err := imports(columns)
				require.NoError(t, err, "%s: %s", kind, columns)
				require.Equal(t, 1, report.Resources[kind])
			}
		}
	})
}
