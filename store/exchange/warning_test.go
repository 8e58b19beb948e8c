package exchange_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/exchange/check"
	"portico/store/storetest"
)

// TestImportWarnings checks what an import warns of: with what is in the file only, and with the
// same lines already in the store.
func TestImportWarnings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, db := backend.Open(t), backend.SQL(t)
		for _, c := range warningCases() {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				report := storetest.ImportWithOptions(t, s, storetest.JoinLines(slices.Concat(c.before, c.lines)...))
				checkWarnings(t, c, len(c.before), report)

				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, storetest.JoinLines(c.before...))
				report = storetest.ImportWithOptions(t, s, storetest.JoinLines(c.lines...))
				checkWarnings(t, c, 0, report)

				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, storetest.JoinLines(c.before...))
				before := storetest.Export(t, s)
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(c.lines...)), exchange.ImportOptions{Strict: true})
				if len(c.warnings) == 0 {
					require.NoError(t, err)
					return
				}
				require.Len(t, storetest.ImportErrors(t, err), len(c.warnings))
				require.Equal(t, before, storetest.Export(t, s), "a strict import writes nothing")
			})
		}
	})
}

// TestWritingAgainWarnsOfNothing checks lines that replace resources of the store which have their keys.
func TestWritingAgainWarnsOfNothing(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		mug, node := product("mug", ``, ``), nodeOf(`,"slug":"mugs"`, ``)
		storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, mug, node))
		for _, line := range []string{product("mug", `,"description":"x"`, ``), strings.Replace(mug, "SKU-MUG", "sku-mug", 1), mug, nodeOf(`,"slug":"mugs","description":"x"`, ``)} {
			require.Empty(t, storetest.ImportWithOptions(t, s, storetest.JoinLines(line)).Warnings, line)
		}
	})
}

// checkWarnings compares warnings with those of a case, whose lines begin after skipped ones.
func checkWarnings(t *testing.T, c warningCase, skipped int, report *exchange.ImportReport) {
	t.Helper()
	var got []string
	for _, w := range report.Warnings {
		got = append(got, fmt.Sprintf("%d %s %s: %s", w.Line-skipped, w.Type, strings.Join(w.Err.Path, "."), w.Err.Detail))
	}
	require.Equal(t, len(c.warnings), report.WarningCount, "%v", got)
	for i, want := range c.warnings {
		require.Contains(t, got[i], want)
	}
}

type warningCase struct {
	name     string
	before   []string // lines of the same file before, or already in the store
	lines    []string
	warnings []string // line, type, member and part of the text, in order
}

func product(id, attributes, relationships string) string {
	return fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":"A","sku":"SKU-%s","slug":"%s","status":"live","created_at":"2026-01-01T00:00:00Z"%s},"relationships":{%s}}`,
		id, strings.ToUpper(id), id, attributes, relationships)
}

func priceOf(sku, currency string) string {
	return fmt.Sprintf(`{"type":"product-price","id":"p-%s","attributes":{"sku":%q,"currencies":{%q:{"amount":100,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"book"}}}}`, sku, sku, currency)
}

func nodeOf(attributes, products string) string {
	return fmt.Sprintf(`{"type":"node","id":"n","attributes":{"name":"N"%s},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[%s]}}}`, attributes, products)
}

func warningCases() []warningCase {
	const book = `{"type":"pricebook","id":"book","attributes":{"name":"Book"}}`
	const tree = `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`
	mug := product("mug", ``, ``)
	const variations = `,"base_product":true,"variations":[{"id":"v","name":"size","sort_order":0,"options":[{"id":"s","name":"S","description":"","sort_order":0}]}]`
	const twoVariations = `,"base_product":true,"variations":[{"id":"v","name":"size","sort_order":0,"options":[{"id":"s","name":"S","description":"","sort_order":0},{"id":"m","name":"M","description":"","sort_order":1}]},` +
		`{"id":"c","name":"colour","sort_order":1,"options":[{"id":"red","name":"Red","description":"","sort_order":0}]}]`
	childWith := func(options ...string) string {
		return product("child-"+options[1], `,"options":["`+strings.Join(options, `","`)+`"]`, `"parent":{"data":{"type":"product","id":"parent"}}`)
	}
	redirectTo := func(id, target string) string {
		return fmt.Sprintf(`{"type":"redirect","id":%q,"attributes":{"from":"from-%s"},"relationships":{"target":{"data":{"type":"node","id":%q}}}}`, id, id, target)
	}
	redirectFrom := func(path string) string {
		return fmt.Sprintf(`{"type":"redirect","id":"r","attributes":{"from":%q,"to":"elsewhere"}}`, path)
	}
	child := func(option string) string {
		return product("child", fmt.Sprintf(`,"base_product_id":"parent","options":[%q]`, option), `"parent":{"data":{"type":"product","id":"parent"}}`)
	}
	return []warningCase{
		{"nothing", []string{book, tree, mug}, []string{priceOf("SKU-MUG", "USD"), nodeOf(`,"curated_products":["mug"]`, `{"type":"product","id":"mug"}`)}, nil},
		{"a price for an unknown SKU", []string{book, mug}, []string{priceOf("SKU-CUP", "USD")}, []string{`1 product-price attributes.sku: is the SKU of no product in the files or the store: "SKU-CUP"`}},
		{"a price for a SKU in another case", []string{book, mug}, []string{priceOf("sku-mug", "USD")}, []string{`1 product-price attributes.sku: is the SKU of no product; a product of the`}},
		{"an unknown currency", []string{book, mug}, []string{priceOf("SKU-MUG", "XAB")}, []string{`1 product-price attributes.currencies.XAB: is not a currency of ISO 4217: "XAB"`}},
		{"two products with one SKU", []string{mug}, []string{product("cup", ``, ``), strings.Replace(product("jar", ``, ``), "SKU-JAR", "SKU-MUG", 1)},
			[]string{`2 product attributes.sku: is also the sku of the product "mug"`}},
		{"two products with one slug", []string{mug}, []string{strings.Replace(product("jar", ``, ``), `"slug":"jar"`, `"slug":"mug"`, 1)},
			[]string{`1 product attributes.slug: is also the slug of the product "mug"`}},
		{"the same id twice", nil, []string{mug, product("mug", `,"description":"x"`, ``)}, []string{`2 product id: is repeated: an earlier line has the product "mug" too, and this one replaces it`}},
		{"a member twice", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"A","name":"B"`, 1)}, []string{`1 product attributes.name: is in the object twice; the last one counts`}},
		{"an unknown product in a node", []string{tree, mug}, []string{nodeOf(``, `{"type":"product","id":"mug"},{"type":"product","id":"cup"}`)},
			[]string{`1 node relationships.products.data.1.id: refers to a product that is neither in the files nor in the store: "cup"`}},
		{"curated, but not attached", []string{tree, mug}, []string{nodeOf(`,"curated_products":["mug"]`, ``)}, []string{`1 node attributes.curated_products.0: is not among relationships.products`}},
		{"a link of another type", []string{tree, mug}, []string{nodeOf(``, `{"type":"file","id":"mug"}`)}, []string{`1 node relationships.products.data.0.type: should be product, got "file"`}},
		{"an unknown image and file", nil, []string{product("mug", ``, `"main_image":{"data":{"type":"file","id":"f"}},"files":{"data":[{"type":"file","id":"g"}]}`)},
			[]string{`1 product relationships.files.data.0.id: refers to a file`, `1 product relationships.main_image.data.id: refers to a file`}},
		{"an unknown image of a node", []string{tree}, []string{`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"main_image":{"data":{"type":"file","id":"f"}}}}`},
			[]string{`1 node relationships.main_image.data.id: refers to a file`}},
		{"an unknown parent", nil, []string{child("s")}, []string{`1 product relationships.parent.data.id: refers to a product that is neither`}},
		{"an option of the parent", []string{product("parent", variations, ``)}, []string{child("s")}, nil},
		{"an option that is not the parent's", []string{product("parent", variations, ``)}, []string{child("xl")}, []string{`1 product attributes.options.0: is not an option of the parent "parent": "xl"`}},
		{"a parent without children", nil, []string{product("parent", variations, ``)}, []string{`1 product attributes.base_product: is true, but no product in the files or the store has this parent`}},
		{"an unknown part of a bundle", nil, []string{product("set", `,"components":{"a":{"name":"A","min":1,"max":1,"sort_order":0,"options":[{"id":"cup","type":"product","quantity":1}]}}`, ``)},
			[]string{`1 product attributes.components.a.options.0.id: refers to a product`}},
		{"an unknown price modifier", nil, []string{product("mug", `,"price_modifiers":["half"]`, ``)}, []string{`1 product attributes.price_modifiers.0: is the name of no price modifier`}},
		{"stock of an unknown product", nil, []string{`{"type":"stock","id":"cup","available":1,"allocated":0,"total":1}`}, []string{`1 stock id: refers to a product`}},
		{"a SKU in another case than a product's", nil, []string{mug, strings.Replace(product("jar", ``, ``), "SKU-JAR", "sku-mug", 1)}, []string{`2 product attributes.sku: is the SKU of the product "mug" in another case`}},
		{"a shortened number", nil, []string{strings.Replace(mug, "SKU-MUG", "1.23E+11", 1)}, []string{`1 product attributes.sku: looks like a number that a spreadsheet has shortened`}},
		{"spaces around a SKU", nil, []string{strings.Replace(mug, "SKU-MUG", "MUG ", 1)}, []string{`1 product attributes.sku: has spaces around it; remove them, got "MUG "`}},
		{"a hidden character", nil, []string{strings.Replace(mug, "SKU-MUG", "MUG\u200b", 1)}, []string{`1 product attributes.sku: has the hidden character '\u200b'`}},
		{"a space that does not break", nil, []string{strings.Replace(mug, "SKU-MUG", "MUG\u00a01", 1)}, []string{`1 product attributes.sku: has the hidden character '\u00a0'`}},
		{"a slug that is no address", nil, []string{strings.Replace(mug, `"slug":"mug"`, `"slug":"my mug"`, 1)}, []string{`1 product attributes.slug: has " ", which an address cannot have`}},
		{"HTML in a name", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"A &amp; B"`, 1)}, []string{`1 product attributes.name: has the HTML "&amp;"`}},
		{"signs in a name", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"A & B < C > D"`, 1)}, nil},
		{"a text in another encoding", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"CafÃ©"`, 1)}, []string{`1 product attributes.name: has "Ã©", which another encoding made of a letter`}},
		{"letters that are no mistake", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"SÃO Ã Â"`, 1)}, nil},
		{"a lost letter", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"Caf�"`, 1)}, []string{`1 product attributes.name: has "�"`}},
		{"a wrong check digit", nil, []string{product("mug", `,"upc_ean":"4006381333932"`, ``)}, []string{`1 product attributes.upc_ean: ends with 2, and the other digits ask for 1`}},
		{"right check digits", nil, []string{product("mug", `,"upc_ean":"4006381333931"`, ``), product("cup", `,"upc_ean":"036000291452"`, ``), product("jar", `,"upc_ean":"96385074"`, ``)}, nil},
		{"a parent that is none", []string{mug}, []string{product("child", ``, `"parent":{"data":{"type":"product","id":"mug"}}`)}, []string{`1 product relationships.parent.data.id: refers to "mug", which is no parent`}},
		{"a variant without an option", []string{product("parent", variations, ``), child("s")}, []string{product("bare", ``, `"parent":{"data":{"type":"product","id":"parent"}}`)}, []string{`1 product attributes.options: must have one option of each variation of the parent "parent", got 0`}},
		{"two variants with one option", []string{product("parent", variations, ``)}, []string{child("s"), strings.ReplaceAll(strings.Replace(child("s"), `"child"`, `"twin"`, 1), "-CHILD", "-TWIN")},
			[]string{`2 product attributes.options: is also the options of the product "child"`, `2 product attributes.slug`}},
		{"options without a parent", nil, []string{product("mug", `,"options":["s"]`, ``)}, []string{`1 product attributes.options: have no effect without a parent`}},
		{"an unknown related product", nil, []string{product("mug", ``, `"related":{"accessories":["cup"]}`)}, []string{`1 product relationships.related.accessories.0: refers to a product`}},
		{"a product twice in a component, and the bundle itself", []string{mug}, []string{product("set", `,"components":{"a":{"name":"A","min":1,"max":1,"sort_order":0,"options":[{"id":"mug","type":"product","quantity":1},{"id":"mug","type":"product","quantity":2},{"id":"set","type":"product","quantity":1}]}}`, ``)},
			[]string{`1 product attributes.components.a.options.1.id: is in the list twice: "mug"; remove one of them`, `1 product attributes.components.a.options.2.id: is the product itself; remove it`}},
		{"a bundle in itself", nil, []string{product("set", ``, `"component_products":{"data":[{"type":"product","id":"set"}]}`)}, []string{`1 product relationships.component_products.data.0.id: is the product itself`}},
		{"a product related to itself, and another twice", []string{product("cup", ``, ``)}, []string{product("mug", ``, `"related":{"accessories":["mug","cup","cup"]}`)},
			[]string{`1 product relationships.related.accessories.0: is the product itself`, `1 product relationships.related.accessories.2: is in the list twice: "cup"`}},
		{"a file twice with two texts", []string{`{"type":"file","id":"f","file_name":"f.jpg","link":{"href":"https://files.example/f.jpg"}}`}, []string{product("mug", ``, `"files":{"data":[{"type":"file","id":"f","alt":"A"},{"type":"file","id":"f","alt":"B"}]}`)},
			[]string{`1 product relationships.files.data.1.id: is in the list twice, with another alt`}},
		{"free units", []string{book, mug}, []string{strings.Replace(priceOf("SKU-MUG", "USD"), `"includes_tax":false`, `"includes_tax":false,"tiers":{"t":{"minimum_quantity":5}}`, 1)},
			[]string{`1 product-price attributes.currencies.USD.tiers.t.amount: is 0 or absent, so that these units are free`}},
		{"a sale above the price", []string{book, mug}, []string{strings.Replace(priceOf("SKU-MUG", "USD"), `,"currencies"`, `,"sales":{"s":{"schedule":{},"currencies":{"USD":{"amount":200,"includes_tax":false}}}},"currencies"`, 1)},
			[]string{`1 product-price attributes.sales.s.currencies.USD.amount: is above the price without the sale, 100, got 200`}},
		{"a tier above the price", []string{book, mug}, []string{strings.Replace(priceOf("SKU-MUG", "USD"), `"includes_tax":false`, `"includes_tax":false,"tiers":{"t":{"minimum_quantity":5,"amount":200}}`, 1)},
			[]string{`1 product-price attributes.currencies.USD.tiers.t.amount: is above the price of one unit, 100, got 200`}},
		{"a path of a computer", nil, []string{`{"type":"file","id":"f","file_name":"a.jpg","link":{"href":"C:\\a.jpg"}}`}, []string{`1 file link.href: is no address that browsers can load`}},
		{"a product twice in a node", []string{tree, mug}, []string{nodeOf(``, `{"type":"product","id":"mug"},{"type":"product","id":"mug"}`)}, []string{`1 node relationships.products.data.1.id: is in the list twice: "mug"`}},
		{"two nodes with one slug", []string{tree}, []string{nodeOf(`,"slug":"mugs"`, ``), strings.Replace(nodeOf(`,"slug":"mugs"`, ``), `"id":"n"`, `"id":"m"`, 1)}, []string{`2 node attributes.slug: is also the slug of the node "n"`}},
		{"a redirect to an unknown node", nil, []string{`{"type":"redirect","id":"r","attributes":{"from":"a"},"relationships":{"target":{"data":{"type":"node","id":"none"}}}}`}, []string{`1 redirect relationships.target.data.id: refers to a node`}},
		{"a SKU in another case than a product's before", []string{mug}, []string{strings.Replace(product("jar", ``, ``), "SKU-JAR", "Sku-Mug", 1)}, []string{`1 product attributes.sku: is the SKU `}},
		{"a sibling with one slug", []string{tree, nodeOf(`,"slug":"mugs"`, ``)}, []string{strings.Replace(nodeOf(`,"slug":"mugs"`, ``), `"id":"n"`, `"id":"m"`, 1)}, []string{`1 node attributes.slug: is also the slug of the node "n"`}},
		{"a node of another hierarchy with one slug", []string{tree, strings.ReplaceAll(tree, `"h"`, `"g"`), nodeOf(`,"slug":"mugs"`, ``)},
			[]string{strings.NewReplacer(`"id":"n"`, `"id":"m"`, `"id":"h"`, `"id":"g"`).Replace(nodeOf(`,"slug":"mugs"`, ``))}, nil},
		{"a redirect from the page of a product", []string{mug}, []string{redirectFrom("/mug")}, []string{`1 redirect attributes.from: is also the path of the product "mug"`}},
		{"a redirect from the page of a node", []string{tree, nodeOf(`,"slug":"mugs"`, ``)}, []string{redirectFrom("mugs")}, []string{`1 redirect attributes.from: is also the path of the node "n"`}},
		{"a redirect and a page", nil, []string{redirectFrom("mug"), mug}, []string{`1 redirect attributes.from: is also the path of the product "mug"`}},
		{"a page and a redirect", nil, []string{tree, nodeOf(`,"slug":"mugs"`, ``), redirectFrom("mugs")}, []string{`3 redirect attributes.from: is also the path of the node "n"`}},
		{"a node below another, and a redirect from its slug", nil, []string{tree, nodeOf(`,"slug":"kitchen"`, ``), redirectFrom("mugs"),
			strings.NewReplacer(`"id":"n"`, `"id":"m"`, `"relationships":{`, `"relationships":{"parent":{"data":{"type":"node","id":"n"}},`).Replace(nodeOf(`,"slug":"mugs"`, ``))}, nil},
		{"a redirect from a draft", []string{strings.Replace(mug, `"live"`, `"draft"`, 1)}, []string{redirectFrom("mug")}, nil},
		{"a redirect from elsewhere", []string{mug, tree, nodeOf(`,"slug":"mugs"`, `{"type":"product","id":"mug"}`)}, []string{redirectFrom("cups/mug")}, nil},
		{"a redirect to a hierarchy, and to a node", []string{tree, nodeOf(``, ``)}, []string{redirectTo("r", "h"), redirectTo("s", "n")}, nil},
		{"a variant with variants", []string{product("parent", `,"base_product":true`, ``)}, []string{product("child", `,"base_product":true`, `"parent":{"data":{"type":"product","id":"parent"}}`), product("grandchild", ``, `"parent":{"data":{"type":"product","id":"child"}}`)},
			[]string{`1 product attributes.base_product: is true, but the product has the parent "parent"`}},
		{"two options of one variation", []string{product("parent", twoVariations, ``)}, []string{childWith("s", "m"), childWith("s", "red")}, []string{`1 product attributes.options: has two options of one variation`}},
		{"two options of one variation, the parent last", nil, []string{childWith("s", "m"), product("parent", twoVariations, ``)}, []string{`1 product attributes.options: has two options of one variation`}},
		{"a time without a zone", nil, []string{strings.Replace(mug, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00", 1)},
			[]string{`1 product attributes.created_at: has no time zone, and counts as UTC; write 2026-01-01T00:00:00Z`}},
		{"a date without a time", []string{book, mug}, []string{strings.Replace(priceOf("SKU-MUG", "USD"), `"currencies"`, `"sales":{"s":{"schedule":{"valid_to":"2030-06-30"},"currencies":{}}},"currencies"`, 1)},
			[]string{`1 product-price attributes.sales.s.schedule.valid_to: is a date without a time, and counts as 00:00 of that day in UTC; write 2030-06-30T00:00:00Z`}},
		{"an error of a spreadsheet", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"#NAME?"`, 1)}, []string{`1 product attributes.name: is an error of a spreadsheet; correct the formula of the cell, got "#NAME?"`}},
		{"a control character", nil, []string{strings.Replace(mug, `"name":"A"`, `"name":"A\u0007","description":"a\r\n\tb"`, 1)}, []string{`1 product attributes.name: has the control character '\a', which pages do not show; remove it, got "A\a"`}},
		{"spaces in a URL", nil, []string{`{"type":"file","id":"f","file_name":"a.jpg","link":{"href":"https://files.example/my mug.jpg"}}`}, []string{`1 file link.href: has a space, which a URL cannot have; write %20`}},
	}
}

// TestImportSetsTimesAndSlugs checks what a product line may leave out: a repeated import changes
// nothing, and a changed one keeps the time of creation.
func TestImportSetsTimesAndSlugs(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		line := func(name string) string {
			return `{"type":"product","id":"mug","attributes":{"name":"` + name + `","sku":"MUG","status":"live"},"relationships":{}}`
		}
		storetest.Import(t, s, line("Café Müsli Men’s"))
		before := storetest.Export(t, s)
		require.Contains(t, before, `"slug":"cafe-musli-mens"`)
		require.Regexp(t, `"created_at":"20\d\d-[^"]+Z","updated_at":"20\d\d-[^"]+Z"`, before)
		require.Zero(t, storetest.Import(t, s, line("Café Müsli Men’s")).Changed)
		require.Equal(t, before, storetest.Export(t, s))

		created := before[strings.Index(before, `"created_at"`):strings.Index(before, `"updated_at"`)]
		require.Equal(t, 1, storetest.Import(t, s, line("ถ้วย กาแฟ")).Changed)
		require.Contains(t, storetest.Export(t, s), created, "the time of creation stays")
		require.Contains(t, storetest.Export(t, s), `"slug":"ถ้วย-กาแฟ"`)
	})
}

// TestImportFindings checks that ImportOptions.Found gets every error and warning, also those that
// are not listed.
func TestImportFindings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, importFindings)
}

func importFindings(t *testing.T, backend storetest.Backend) {
	s := backend.Open(t)
	var lines []string
	for i := range 3 * check.MaxImportErrors {
		lines = append(lines, product(fmt.Sprintf("p%d", i), ``, fmt.Sprintf(`"files":{"data":[{"type":"file","id":"f%d"}]}`, i)))
	}
	lines = append(lines, product("last", `,"options":["s"]`, ``))
	found := map[bool]int{}
	count := exchange.ImportOptions{Found: func(_ check.ImportError, warning bool) { found[warning]++ }}
	report, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(lines...)), count)
	require.NoError(t, err)
	require.Len(t, report.Warnings, 4, "the first three of a kind, and the other kind")
	require.Equal(t, []int{1, 2, 3, len(lines)}, []int{report.Warnings[0].Line, report.Warnings[1].Line, report.Warnings[2].Line, report.Warnings[3].Line})
	require.Equal(t, map[string]int{report.Warnings[0].Kind(): len(lines) - 1, report.Warnings[3].Kind(): 1}, report.WarningKinds)
	require.Equal(t, len(lines), report.WarningCount)
	require.Equal(t, map[bool]int{true: len(lines)}, found)

	clear(found)
	for i := range lines {
		lines[i] = strings.Replace(lines[i], `"status":"live"`, `"status":"alive"`, 1)
	}
	_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(lines...)), count)
	var invalid *exchange.ImportErrors
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, len(lines), invalid.Count)
	require.Equal(t, len(lines), invalid.Report.WarningCount)
	require.Len(t, invalid.Report.Warnings, 4, "as of an import without errors")
	require.Equal(t, map[bool]int{true: len(lines), false: len(lines)}, found)
}

// A redirect may be for the path of a page below a node, with the slug of the hierarchy and without. It is none for a page
// that leaves the path in the same import.
func TestRedirectsFromPaths(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		node := func(id, slug, parent string) string {
			return fmt.Sprintf(`{"type":"node","id":%q,"attributes":{"name":"N","slug":%q},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"parent":{"data":{"type":"node","id":%q}},"products":{"data":[{"type":"product","id":"mug"}]}}}`, id, slug, parent)
		}
		storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"h","attributes":{"name":"H","slug":"shop"}}`, nodeOf(`,"slug":"kitchen"`, ``), node("m", "mugs", "n"), product("mug", ``, ``)))
		for from, page := range map[string]string{
			"mug": `product "mug"`, "kitchen/mugs/mug": `product "mug"`, "shop/kitchen/mugs/mug": `product "mug"`, "kitchen": `node "n"`, "kitchen/mugs": `node "m"`, "shop/kitchen/mugs": `node "m"`,
			"mugs": "", "mugs/mug": "", "kitchen/mug": "", "shop/mugs": "", "shop": "", "kitchen/mugs/cup": "",
		} {
			line := fmt.Sprintf(`{"type":"redirect","id":"r","attributes":{"from":%q,"to":"elsewhere"}}`, from)
			for _, lines := range []string{line, storetest.JoinLines(line, strings.Replace(product("mug", ``, ``), `"slug":"mug"`, `"slug":"other"`, 1))} {
				_, plan := planned(t, s, lines, exchange.ImportOptions{})
				leaves := lines != line && strings.HasPrefix(page, "product")
				require.Equal(t, page != "" && !leaves, len(plan.Warnings) == 1, "%s: %v", from, plan.Warnings)
				if len(plan.Warnings) == 1 {
					require.Contains(t, plan.Warnings[0].Error(), "is also the path of the "+page+" in the store", from)
				}
			}
		}
	})
}
