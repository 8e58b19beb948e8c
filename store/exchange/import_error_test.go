package exchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/exchange/check"
	"portico/store/storetest"
)

// TestImportErrors checks that Service.Import reports all errors of a file with line and member,
// and then writes nothing.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		d := storetest.NewSharedStore(t, backend)
		t.Run("an error names line, type and member", func(t *testing.T) {
			storetest.DeleteAllRows(t, d.DB)
			storetest.Import(t, d.Store, storetest.JoinLines(storetest.ShopLine("attribute", "brand"), storetest.ShopLine("attribute", "weight"),
				storetest.ShopLine("attribute", "since"), storetest.ShopLine("attribute", "uses"), storetest.ShopLine("attribute", "fragile")))
			importErrorMembers(d)(t)
		})
		d.Run(t, "all errors of a line", importErrorsOfLine)
		d.Run(t, "references", importReferences)
		d.Run(t, "node trees", importTrees)
		d.Run(t, "an invalid line causes no errors in others", importErrorsIndependent)
		d.Run(t, "one invalid line prevents the import", importRefused)
		d.Run(t, "a ledger that does not match its balance is refused", importLedger)
		d.Run(t, "the first hundred errors and their total", importManyErrors)
		d.Run(t, "a lenient import reports what it ignores", importIgnored)
		d.Run(t, "a line beyond the limit", importLongLine)
		d.Run(t, "a file that cannot be read", importReadError)
	})
}

// membersOf returns the members of errors, with dots.
func membersOf(errs []check.ImportError) []string {
	members := []string{}
	for _, e := range errs {
		members = append(members, strings.Join(e.Err.Path, "."))
	}
	return members
}

func synonym(attributes string) string {
	return `{"type":"synonym","id":"s","attributes":{` + attributes + `}}`
}

func redirect(attributes, relationships string) string {
	return `{"type":"redirect","id":"r","attributes":{` + attributes + `},"relationships":{` + relationships + `}}`
}

// TestRedirectsThatLoop checks redirects with those of the file and of the store.
func TestRedirectsThatLoop(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		line := func(id, from, to string) string {
			return `{"type":"redirect","id":"` + id + `","attributes":{"from":"` + from + `","to":"` + to + `"},"relationships":{}}`
		}
		storetest.Import(t, s, storetest.JoinLines(line("r1", "a", "b"), line("r2", "b", "c")))
		for _, c := range []struct {
			name  string
			lines []string
			want  []string
		}{
			{"over the store", []string{line("r3", "c", "a")}, []string{"1 attributes.to leads back to itself, over 3 redirects"}},
			{"within the file", []string{line("r3", "x", "y"), line("r4", "y", "x")}, []string{"1 attributes.to leads back", "2 attributes.to leads back"}},
			{"into a loop that another line makes", []string{line("r3", "z", "a"), line("r2", "b", "a")}, []string{"2 attributes.to leads back"}},
			{"a path of the store", []string{line("r3", "a", "d")}, []string{`1 attributes.from is also the path of the redirect "r1"`}},
			{"a path of the file", []string{line("r3", "d", "e"), line("r4", "d", "f")}, []string{`2 attributes.from is also the path of the redirect "r3"`}},
			{"a chain", []string{line("r3", "c", "d"), line("r1", "a", "b")}, nil},
			{"what may lead elsewhere", []string{line("r3", "c", "/d/10:30"), line("r4", "d", "search?at=10:30#a:b"), line("r5", "e", "https://x.example:8443/a?b=//c"), line("r6", "f", "http://[::1]/")}, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, err := s.Exchange.PlanImport(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(c.lines...)), exchange.ImportOptions{}, func(exchange.PlannedChange) {})
				if c.want == nil {
					require.NoError(t, err)
					return
				}
				found := errorTexts(t, err)
				require.Len(t, found, len(c.want), "%v", found)
				for i, want := range c.want {
					require.Contains(t, found[i], want)
				}
			})
		}
	})
}

// TestNumberOfSynonyms imports one more than a shop may have, in one file and over two.
func TestNumberOfSynonyms(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t)
		lines := func(first, n int) string {
			var b strings.Builder
			for i := first; i < first+n; i++ {
				fmt.Fprintf(&b, `{"type":"synonym","id":"s%d","attributes":{"kind":"equivalent","terms":["a%[1]d","b%[1]d"]}}`+"\n", i)
			}
			return b.String()
		}
		const most = 5000
		fails := func(text, line string) {
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
			require.Contains(t, errorTexts(t, err)[0], line+" id is one too many: a shop has at most 5000 of the type synonym")
		}
		fails(lines(0, most+1), "5001")
		storetest.Import(t, s, lines(0, most))
		fails(lines(most-2, 3), "3")
		storetest.Import(t, s, lines(most-2, 2))
	})
}

type errorCase struct {
	name, line   string
	kind, member string   // of the only error
	words        []string // of its message
}

func importErrorMembers(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		before := storetest.Export(t, s)
		for _, c := range errorCases() {
			t.Run(c.name, func(t *testing.T) {
				text := storetest.JoinLines(storetest.ShopLine("file", "photo-1"), "", c.line)
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
				errs := storetest.ImportErrors(t, err)
				require.Len(t, errs, 1, "%v", errs)
				require.Equal(t, 3, errs[0].Line)
				require.Equal(t, c.kind, errs[0].Type)
				require.Equal(t, store.Invalid, errs[0].Err.Code)
				require.Equal(t, []string{c.member}, membersOf(errs), errs[0].Error())
				require.Contains(t, errs[0].Error(), "line 3: ")
				for _, word := range append(c.words, c.kind, c.member) {
					require.Contains(t, errs[0].Error(), word)
				}
				require.Equal(t, before, storetest.Export(t, s))
			})
		}
	}
}

// ownAttribute is a product with values of its own attributes.
func ownAttribute(values string) string {
	return storetest.ChangedShopLine("product", "frame", `},"relationships"`, `,"custom_attributes":{`+values+`}},"relationships"`)
}

func errorCases() []errorCase {
	long := strings.Repeat("é", 600)
	return []errorCase{
		// Attributes of one's own.
		{"an attribute that is not declared", ownAttribute(`"colour":"red"`), "product", "attributes.custom_attributes.colour", []string{"not declared", `"colour"`}},
		{"a text for a number", ownAttribute(`"weight":"5"`), "product", "attributes.custom_attributes.weight", []string{"must be a number", "got a text"}},
		{"a text for a date", ownAttribute(`"since":"May 5"`), "product", "attributes.custom_attributes.since", []string{"must be a date"}},
		{"a number for a text", ownAttribute(`"brand":5`), "product", "attributes.custom_attributes.brand", []string{"must be a text", "got a number"}},
		{"a text for a list", ownAttribute(`"uses":"toys"`), "product", "attributes.custom_attributes.uses", []string{"must be a list"}},
		{"a boolean as text", ownAttribute(`"fragile":"true"`), "product", "attributes.custom_attributes.fragile", []string{"must be a boolean"}},
		{"an object as value", ownAttribute(`"brand":{}`), "product", "attributes.custom_attributes.brand", []string{"got an object"}},
		{"an empty list", ownAttribute(`"uses":[]`), "product", "attributes.custom_attributes.uses", []string{"1 to 100 texts"}},
		{"a list with a number", ownAttribute(`"uses":["a",1]`), "product", "attributes.custom_attributes.uses", []string{"1 to 100 texts"}},
		{"an empty value", ownAttribute(`"brand":""`), "product", "attributes.custom_attributes.brand", []string{"1 to 255 bytes"}},
		{"a long value", ownAttribute(`"brand":"` + long + `"`), "product", "attributes.custom_attributes.brand", []string{"got 1200"}},
		{"a number that is too large", ownAttribute(`"weight":1e16`), "product", "attributes.custom_attributes.weight", []string{"1e15"}},
		{"a key that is no id", ownAttribute(`"a b":1`), "product", "attributes.custom_attributes", []string{`"a b"`}},
		{"a type that changes", `{"type":"attribute","id":"weight","attributes":{"label":"Weight","attribute_type":"text"}}`, "attribute", "attributes.attribute_type", []string{"must stay number"}},
		{"an unknown type of values", `{"type":"attribute","id":"colour","attributes":{"label":"Colour","attribute_type":"color"}}`, "attribute", "attributes.attribute_type", []string{"text, number", `"color"`}},
		{"no label", `{"type":"attribute","id":"colour","attributes":{"attribute_type":"text"}}`, "attribute", "attributes.label", []string{"is required"}},
		{"a unit of texts", `{"type":"attribute","id":"colour","attributes":{"label":"Colour","attribute_type":"text","unit":"kg"}}`, "attribute", "attributes.unit", []string{"must be empty"}},
		{"texts to sort by", `{"type":"attribute","id":"colour","attributes":{"label":"Colour","attribute_type":"text","sortable":true}}`, "attribute", "attributes.sortable", []string{"number or date"}},
		{"an unknown kind of synonym", synonym(`"kind":"both","terms":["a","b"]`), "synonym", "attributes.kind", []string{"equivalent, one_way"}},
		{"one equivalent term", synonym(`"kind":"equivalent","terms":["a"]`), "synonym", "attributes.terms", []string{"2 to 20 terms, got 1"}},
		{"a one-way synonym without term", synonym(`"kind":"one_way","terms":["a"]`), "synonym", "attributes.term", []string{"is required"}},
		{"an equivalent synonym with term", synonym(`"kind":"equivalent","term":"a","terms":["b","c"]`), "synonym", "attributes.term", []string{"must be empty"}},
		{"a term twice, in another case", synonym(`"kind":"equivalent","terms":["Café","cafe"]`), "synonym", "attributes.terms.1", []string{"twice"}},
		{"a term of six words", synonym(`"kind":"equivalent","terms":["a","b c d e f g"]`), "synonym", "attributes.terms.1", []string{"1 to 5 words, got 6"}},
		{"a term without words", synonym(`"kind":"equivalent","terms":["a","-"]`), "synonym", "attributes.terms.1", []string{"1 to 5 words, got 0"}},
		{"a long term", synonym(`"kind":"equivalent","terms":["a","` + long + `"]`), "synonym", "attributes.terms.1", []string{"100 bytes"}},
		{"a locale that is none", synonym(`"kind":"equivalent","locale":"english!","terms":["a","b"]`), "synonym", "attributes.locale", []string{"BCP 47"}},
		{"a redirect of a URL", redirect(`"from":"https://a.example/b","to":"c"`, ``), "redirect", "attributes.from", []string{"without scheme"}},
		{"a redirect without a path", redirect(`"from":"/","to":"c"`, ``), "redirect", "attributes.from", []string{"is required"}},
		{"a redirect to nothing", redirect(`"from":"a"`, ``), "redirect", "attributes.to", []string{"is required"}},
		{"a redirect to itself", redirect(`"from":"/a","to":"a/"`, ``), "redirect", "attributes.to", []string{"must be another path"}},
		{"a redirect of a line break", redirect(`"from":"a\nb","to":"c"`, ``), "redirect", "attributes.from", []string{"control characters"}},
		{"a redirect to a script", redirect(`"from":"a","to":"javascript:alert(1)"`, ``), "redirect", "attributes.to", []string{"https:// or http://", `got "javascript:alert(1)"`}},
		{"a redirect to a script after a slash", redirect(`"from":"a","to":"/javascript:alert(1)"`, ``), "redirect", "attributes.to", []string{"before the first slash"}},
		{"a redirect to data", redirect(`"from":"a","to":"data:text/html,x"`, ``), "redirect", "attributes.to", []string{"before the first slash"}},
		{"a redirect to a scheme in capitals", redirect(`"from":"a","to":"HTTPS://x.example"`, ``), "redirect", "attributes.to", []string{"https:// or http://"}},
		{"a redirect over backslashes", redirect(`"from":"a","to":"\\\\evil.example"`, ``), "redirect", "attributes.to", []string{"has a backslash"}},
		{"a redirect to a site without scheme", redirect(`"from":"a","to":"//evil.example"`, ``), "redirect", "attributes.to", []string{"begins with //"}},
		{"a redirect to no host", redirect(`"from":"a","to":"https://"`, ``), "redirect", "attributes.to", []string{"has no host"}},
		{"a redirect to a port", redirect(`"from":"a","to":"https://:80/"`, ``), "redirect", "attributes.to", []string{"has no host"}},
		{"a redirect to a port that is none", redirect(`"from":"a","to":"https://x.example:a/"`, ``), "redirect", "attributes.to", []string{"is not a valid URL"}},
		{"a redirect to a line break", redirect(`"from":"a","to":"https://x.example/\n"`, ``), "redirect", "attributes.to", []string{"control character"}},
		{"a redirect to a file", redirect(`"from":"a"`, `"target":{"data":{"type":"file","id":"photo-1"}}`), "redirect", "relationships.target.data.type", []string{"product, node"}},

		// What is required.
		{"no sku", storetest.ChangedShopLine("product", "frame", `"sku":"FRAME",`, ``), "product", "attributes.sku", []string{"is required"}},
		{"no name", storetest.ChangedShopLine("catalog", "main", `"name":"Main",`, ``), "catalog", "attributes.name", []string{"is required"}},
		{"no link", storetest.ChangedShopLine("file", "photo-1", `"link":{"href":"https://cdn.example/anvil.jpg"},`, ``), "file", "link.href", []string{"is required"}},
		{"no id", `{"type":"pricebook","attributes":{"name":"A"}}`, "pricebook", "id", []string{"is required"}},
		{"no id of a reference", storetest.ChangedShopLine("product", "jar", `,"id":"drill-draft"`, ``), "product", "relationships.parent.data.id", []string{"is required"}},
		{"no price book", storetest.ChangedShopLine("product-price", "vip-anvil", `"relationships":{"pricebook":{"data":{"type":"pricebook","id":"vip"}}}`, `"relationships":{}`), "product-price", "relationships.pricebook", []string{"is required"}},
		{"no hierarchy", storetest.ChangedShopLine("node", "empty", `"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}},`, ``), "node", "relationships.hierarchy", []string{"is required"}},
		{"a position below 0", storetest.ChangedShopLine("node", "empty", `"position":7`, `"position":-1`), "node", "attributes.position", []string{"must be between 0 and 1000000, got -1"}},
		{"too many attributes of a node", storetest.ChangedShopLine("node", "empty", `"brand":"Acme"`, attributesOf(51)), "node", "attributes.custom_attributes", []string{"at most 50 attributes, got 52"}},
		{"an attribute of a hierarchy", `{"type":"hierarchy","id":"h","attributes":{"name":"H","custom_attributes":{"brand":"Acme"}}}`, "hierarchy", "attributes.custom_attributes", []string{"are only allowed on nodes"}},
		{"a position of a hierarchy", `{"type":"hierarchy","id":"h","attributes":{"name":"H","position":1}}`, "hierarchy", "attributes.position", []string{"is only allowed on nodes"}},
		{"no price", storetest.ChangedShopLine("product-price", "vip-anvil", `"currencies":{"USD":{"amount":99900,"includes_tax":false}}`, `"currencies":{}`), "product-price", "attributes.currencies", []string{"is required"}},
		{"no schema", storetest.ChangedShopLine("promotion", "auto", `,"schema":{"percent":5}`, ``), "promotion", "schema", []string{"is required"}},
		{"no schema but null", storetest.ChangedShopLine("promotion", "auto", `"schema":{"percent":5}`, `"schema":null`), "promotion", "schema", []string{"is required"}},
		{"no time of a ledger line", storetest.ChangedShopLine("stock_transaction", "ledger-2", `,"created_at":"2023-03-02T00:00:00.000Z"`, ``), "stock_transaction", "created_at", []string{"is required"}},
		// The wrong kind of JSON, at any depth.
		{"a number for a text", storetest.ChangedShopLine("product", "frame", `"name":"Frame"`, `"name":5`), "product", "attributes.name", []string{"must be a string, got the number 5"}},
		{"a text for a boolean", storetest.ChangedShopLine("product", "frame", `"base_product":false`, `"base_product":"no"`), "product", "attributes.base_product", []string{"must be a boolean, got a string"}},
		{"a text for a number, in a list in a map", storetest.ChangedShopLine("product", "kit", `"quantity":2`, `"quantity":"2"`), "product", "attributes.components.wood.options.1.quantity", []string{"must be a whole number, got a string"}},
		{"a fraction", storetest.ChangedShopLine("product", "kit", `"quantity":2`, `"quantity":1.5`), "product", "attributes.components.wood.options.1.quantity", []string{"must be a whole number, got the number 1.5"}},
		{"texts for options", storetest.ChangedShopLine("product", "easel", `"variations":[`, `"variations":[{"id":"leg","name":"Leg","options":["oak","ash"]},{"id":"top","name":"Top","options":["oak"]},`), "product", "attributes.variations.0.options.0", []string{"must be an object, got a string"}},
		{"a number past 64 bits", storetest.ChangedShopLine("stock", "anvil", `"available":7`, `"available":9223372036854775808`), "stock", "available", []string{"must be a whole number"}},
		{"a number in a list of texts", storetest.ChangedShopLine("product", "anvil", `["heavy","iron"]`, `["heavy",1]`), "product", "attributes.tags.1", []string{"must be a string, got the number 1"}},
		{"an object for a list", storetest.ChangedShopLine("product", "anvil", `["heavy","iron"]`, `{"heavy":true}`), "product", "attributes.tags", []string{"must be an array, got an object"}},
		{"a list for an object", storetest.ChangedShopLine("product", "frame", `"relationships":{}`, `"relationships":[]`), "product", "relationships", []string{"must be an object, got an array"}},
		{"a text for an object, in a map", storetest.ChangedShopLine("product", "brush", `{"name":"Pincel"}`, `"Pincel"`), "product", "attributes.locales.pt-BR", []string{"must be an object, got a string"}},
		{"a number for an open object", storetest.ChangedShopLine("product", "glue", `"extensions":{`, `"extensions":3,"custom_inputs":{`), "product", "attributes.extensions", []string{"must be an object, got the number 3"}},
		{"a number for a type", `{"type":5,"id":"a"}`, "", "type", []string{"must be a string, got the number 5"}},
		{"an object for a user", storetest.ChangedShopLine("promotion_code", "code-2", `"user":"u1"`, `"user":{}`), "promotion_code", "user", []string{"a string or an array of strings"}},
		// What is not known.
		{"an unknown member", storetest.ChangedShopLine("product", "frame", `"relationships"`, `"colour":"red","relationships"`), "product", "colour", []string{"is not a known member", "--lenient"}},
		{"a member in another case", storetest.ChangedShopLine("product", "frame", `"sku"`, `"SKU":"red","sku"`), "product", "attributes.SKU", []string{"is not a known member"}},
		{"a member of a map in another case", storetest.ChangedShopLine("product-price", "vip-anvil", `"amount"`, `"Amount":1,"amount"`), "product-price", "attributes.currencies.USD.Amount", []string{"is not a known member"}},
		{"an unknown member of an attribute", storetest.ChangedShopLine("product", "frame", `"sku"`, `"skew":"red","sku"`), "product", "attributes.skew", []string{"is not a known member"}},
		{"an unknown member in a list", storetest.ChangedShopLine("product", "easel", `"description":"Soft"`, `"describtion":"Soft"`), "product", "attributes.variations.0.options.1.describtion", []string{"is not a known member"}},
		{"an unknown member in a map", storetest.ChangedShopLine("product-price", "vip-anvil", `"amount"`, `"sum":1,"amount"`), "product-price", "attributes.currencies.USD.sum", []string{"is not a known member"}},
		{"an unknown type", `{"type":"prodcut","id":"a"}`, "prodcut", "type", []string{"must be one of api_client, attribute, catalog", "product-price", `got "prodcut"`}},
		{"no type", `{"id":"a"}`, "", "type", []string{"must be one of"}},
		// Ids and times.
		{"an id with a space", storetest.ChangedShopLine("product", "frame", `"id":"frame"`, `"id":"a frame"`), "product", "id", []string{"1 to 64", `got "a frame"`}},
		{"an id of 65 letters", storetest.ChangedShopLine("product", "frame", `"id":"frame"`, `"id":"`+strings.Repeat("a", 65)+`"`), "product", "id", []string{"1 to 64"}},
		{"an id beyond ASCII", storetest.ChangedShopLine("product", "frame", `"id":"frame"`, `"id":"cadré"`), "product", "id", []string{"1 to 64"}},
		{"a bad id in a list", storetest.ChangedShopLine("node", "sale", `"id":"brush"`, `"id":"br ush"`), "node", "relationships.products.data.2.id", []string{"1 to 64"}},
		{"a bad curated id", storetest.ChangedShopLine("node", "sale", `["drill-draft"]`, `["drill/draft"]`), "node", "attributes.curated_products.0", []string{"1 to 64"}},
		{"a URL for an image", storetest.ChangedShopLine("product", "frame", `"relationships":{}`, `"relationships":{"main_image":{"data":{"type":"main_image","id":"https://x.example/a.jpg"}}}`), "product", "relationships.main_image.data.id", []string{"must be the id of a file", "files.csv", `got "https://x.example/a.jpg"`}},
		{"a URL for a file", storetest.ChangedShopLine("product", "frame", `"relationships":{}`, `"relationships":{"files":{"data":[{"type":"file","id":"https://x.example/a.jpg"}]}}`), "product", "relationships.files.data.0.id", []string{"must be the id of a file", "files.csv"}},
		{"the name and value of an option", storetest.ChangedShopLine("product", "frame", `"base_product":false`, `"base_product":false,"options":["Size=S"]`), "product", "attributes.options.0", []string{"must be the id of an option in the variations of the parent", `got "Size=S"`}},
		{"no time", storetest.ChangedShopLine("product", "frame", `"created_at":"2023-01-01T00:00:00.000Z"`, `"created_at":"yesterday"`), "product", "attributes.created_at", []string{"2012-05-30T00:00:00.000Z", `got "yesterday"`}},
		{"a day that is not", storetest.ChangedShopLine("product", "frame", `"updated_at":"2024-01-01T00:00:00.000Z"`, `"updated_at":"2024-02-30T00:00:00.000Z"`), "product", "attributes.updated_at", []string{`got "2024-02-30T00:00:00.000Z"`}},
		{"a schedule that ends before it begins", storetest.ChangedShopLine("product-price", "standard-brush", `"valid_to":"2010`, `"valid_to":"2009`), "product-price", "attributes.sales.spring.schedule.valid_to", []string{"must be after the schedule's start"}},
		{"a promotion that ends when it begins", storetest.ChangedShopLine("promotion", "auto", `"end":"2024-02-01"`, `"end":"2024-01-01"`), "promotion", "end", []string{"must be after start"}},
		{"an empty start", storetest.ChangedShopLine("promotion", "auto", `"start":"2024-01-01T00:00:00Z"`, `"start":""`), "promotion", "start",
			[]string{"is required: a date, a date and HH:MM, or RFC 3339"}},
		{"a start that is not a time", storetest.ChangedShopLine("promotion", "auto", `"start":"2024-01-01T00:00:00Z"`, `"start":"soon"`), "promotion", "start",
			[]string{"must be a date, a date and HH:MM, or RFC 3339", `got "soon"`}},
		// Text, and what is no text.
		{"a name of 1200 bytes", storetest.ChangedShopLine("product", "frame", `"name":"Frame"`, `"name":"`+long+`"`), "product", "attributes.name", []string{"at most 1024 bytes, got 1200"}},
		{"a NUL", storetest.ChangedShopLine("product", "frame", `Frame`, "Fra\x00me"), "", "", []string{"is not JSON at column ", "control character"}},
		{"an escaped NUL", storetest.ChangedShopLine("product", "frame", `Frame`, `Fra\u0000me`), "", "attributes.name", []string{"the character U+0000"}},
		{"a stray byte", storetest.ChangedShopLine("product", "frame", `Frame`, "Fra\xffme"), "", "attributes.name", []string{"is not valid UTF-8"}},
		{"half a surrogate pair", storetest.ChangedShopLine("product", "frame", `Frame`, `Fra\ud800me`), "", "attributes.name", []string{"half of a surrogate pair"}},
		{"half a line", storetest.ShopLine("product", "frame")[:80], "", "", []string{"is not JSON at column 81: expected more"}},
		{"no JSON", `type,id,name`, "", "", []string{"is not JSON"}},
		{"two resources on a line", storetest.ShopLine("file", "photo-1") + storetest.ShopLine("file", "photo-2"), "", "", []string{"is not JSON"}},
		{"a list", `[` + storetest.ShopLine("file", "photo-1") + `]`, "", "", []string{"object"}},
		{"a number", `5`, "", "", []string{"object"}},
		// Bounds and words.
		{"a status", storetest.ChangedShopLine("product", "frame", `"live"`, `"hidden"`), "product", "attributes.status", []string{"live, draft", `got "hidden"`}},
		{"a total that is not the sum", storetest.ChangedShopLine("stock", "anvil", `"total":9`, `"total":10`), "stock", "total", []string{"available plus allocated, 9", "got 10"}},
		{"no total", storetest.ChangedShopLine("stock", "anvil", `,"total":9`, ``), "stock", "total", []string{"is required: available plus allocated, 9"}},
		{"stock below nothing", `{"type":"stock","id":"a","available":-1,"allocated":1,"total":0}`, "stock", "available", []string{"between 0 and 2147483647, got -1"}},
		{"stock past the bound", `{"type":"stock","id":"a","available":2147483647,"allocated":1,"total":2147483648}`, "stock", "total", []string{"at most 2147483647"}},
		{"an unknown action", storetest.ChangedShopLine("stock_transaction", "ledger-2", `"allocate"`, `"reserve"`), "stock_transaction", "action", []string{"increment, decrement", `got "reserve"`}},
		{"a currency in lower case", storetest.ChangedShopLine("product-price", "vip-anvil", `"USD"`, `"usd"`), "product-price", "attributes.currencies.usd", []string{"three-letter", `got "usd"`}},
		{"a currency of other signs", storetest.ChangedShopLine("product-price", "vip-anvil", `"USD"`, `"$1 "`), "product-price", "attributes.currencies.$1 ", []string{"three-letter"}},
		{"a price below nothing", storetest.ChangedShopLine("product-price", "vip-anvil", `99900`, `-1`), "product-price", "attributes.currencies.USD.amount", []string{"between 0 and", "got -1"}},
		{"a locale that is a sentence", storetest.ChangedShopLine("product", "chalk", `"fr"`, `"the French one"`), "product", "attributes.locales.the French one", []string{"BCP 47"}},
		{"a locale by two spellings", storetest.ChangedShopLine("product", "brush", `"fr":{`, `"pt_BR":{`), "product", "attributes.locales.pt_BR", []string{"is also present as pt-BR"}},
		{"a tier of no unit", storetest.ChangedShopLine("product-price", "standard-anvil", `"minimum_quantity":10`, `"minimum_quantity":0`), "product-price", "attributes.currencies.USD.tiers.ten.minimum_quantity", []string{"between 1 and", "got 0"}},
		{"a tier below nothing", storetest.ChangedShopLine("product-price", "standard-anvil", `"minimum_quantity":10,"amount":119900`, `"minimum_quantity":10,"amount":-1`), "product-price", "attributes.currencies.USD.tiers.ten.amount", []string{"between 0 and", "got -1"}},
		{"two tiers from one quantity on", storetest.ChangedShopLine("product-price", "standard-anvil", `{"ten":`, `{"dix":{"minimum_quantity":10,"amount":1},"ten":`), "product-price", "attributes.currencies.USD.tiers.ten.minimum_quantity", []string{`must differ from that of the tier "dix", 10`}},
		{"an option of two variations", storetest.ChangedShopLine("product", "easel", `"variations":[`, `"variations":[{"id":"leg","name":"Leg","sort_order":0,"options":[{"id":"oak","name":"Oak","description":"","sort_order":0}]},`), "product", "attributes.variations.1.options.0.id", []string{"must belong to one variation", "attributes.variations.0.options.0.id"}},
		{"two variations with one id", storetest.ChangedShopLine("product", "easel", `"variations":[`, `"variations":[{"id":"wood","name":"Leg","sort_order":0,"options":[]},`), "product", "attributes.variations.1.id", []string{"in the list twice", `"wood"`}},
		{"a hierarchy twice", storetest.ChangedShopLine("catalog", "main", `["workshop","seasons"]`, `["workshop","seasons","workshop"]`), "catalog", "attributes.hierarchies.2", []string{"in the list twice"}},
		{"a price book with two priorities", storetest.ChangedShopLine("catalog", "main", `"priority":5}`, `"priority":5},{"id":"vip","priority":1}`), "catalog", "attributes.pricebook_ids.2.id", []string{"in the list twice", `"vip"`}},
		{"a currency that is none", storetest.ChangedShopLine("catalog", "outlet", `"EUR"`, `"ZZZ"`), "catalog", "attributes.currency", []string{"ISO 4217", `got "ZZZ"`}},
		{"a shop's currency that is none", `{"type":"settings","page_length":10,"currency":"ZZZ","locale":"en"}`, "settings", "currency", []string{"ISO 4217", `got "ZZZ"`}},
		{"an unknown kind of promotion", storetest.ChangedShopLine("promotion", "auto", `percent_discount`, `half_price`), "promotion", "promotion_type", []string{"x_for_y", `got "half_price"`}},
		{"an unknown kind of modifier", storetest.ChangedShopLine("price_modifier", "bulk-1", `price_decrement`, `price_half`), "price_modifier", "attributes.modifier_type", []string{"price_equals"}},
		{"more uses than there were", storetest.ChangedShopLine("promotion_code", "code-1", `"uses":3`, `"uses":6`), "promotion_code", "uses", []string{"between 0 and 5, got 6"}},
		{"an unknown gateway", `{"type":"gateway","slug":"barter","enabled":false,"test":false}`, "gateway", "slug", []string{"card_processor, manual"}},
		{"an unknown scope", storetest.ChangedShopLine("api_client", "till", `catalog:read`, `catalog:eat`), "api_client", "scopes.0", []string{`"catalog:eat"`}},
		{"a page length of 0", `{"type":"settings","page_length":0,"currency":"USD","locale":"en"}`, "settings", "page_length", []string{"between 1 and 100, got 0"}},
		{"curated products of a hierarchy", storetest.ChangedShopLine("hierarchy", "attic", `"name":"Attic"`, `"name":"Attic","curated_products":["a"]`), "hierarchy", "attributes.curated_products", []string{"only allowed on nodes"}},
		{"21 curated products", storetest.ChangedShopLine("node", "sale", `["drill-draft"]`, `["a"`+strings.Repeat(`,"a"`, 20)+`]`), "node", "attributes.curated_products", []string{"at most 20 products, got 21"}},
		{"a sale without a name", storetest.ChangedShopLine("product-price", "standard-brush", `"spring":`, `"":`), "product-price", "attributes.sales", []string{"must have a name for each sale"}},
		{"a sale with a long name", storetest.ChangedShopLine("product-price", "standard-brush", `"spring":`, `"`+strings.Repeat("s", 1025)+`":`), "product-price", "attributes.sales", []string{"at most 1024 bytes for each sale, got 1025"}},
		{"a tier without a name", storetest.ChangedShopLine("product-price", "standard-anvil", `"ten":`, `"":`), "product-price", "attributes.currencies.USD.tiers", []string{"must have a name for each tier"}},
		{"a tier with a long name", storetest.ChangedShopLine("product-price", "standard-anvil", `"ten":`, `"`+strings.Repeat("t", 1025)+`":`), "product-price", "attributes.currencies.USD.tiers", []string{"at most 1024 bytes for each tier, got 1025"}},
		{"a component without a key", storetest.ChangedShopLine("product", "kit", `"power":`, `"":`), "product", "attributes.components", []string{"must have a name for each component"}},
		{"a component with a long key", storetest.ChangedShopLine("product", "kit", `"power":`, `"`+strings.Repeat("c", 1025)+`":`), "product", "attributes.components", []string{"at most 1024 bytes for each component, got 1025"}},
		{"an empty tag", storetest.ChangedShopLine("product", "anvil", `"tags":["heavy","iron"]`, `"tags":["heavy",""]`), "product", "attributes.tags.1", []string{"is required"}},
		{"a long tag", storetest.ChangedShopLine("product", "anvil", `"tags":["heavy","iron"]`, `"tags":["`+strings.Repeat("t", 1025)+`"]`), "product", "attributes.tags.0", []string{"at most 1024 bytes, got 1025"}},
		{"an empty type", storetest.ChangedShopLine("product", "anvil", `"product_types":["standard"]`, `"product_types":[""]`), "product", "attributes.product_types.0", []string{"is required"}},
		{"a component of none", storetest.ChangedShopLine("product", "kit", `"quantity":2`, `"quantity":0`), "product", "attributes.components.wood.options.1.quantity", []string{"at least 1, got 0"}},
		{"a product that is its own parent", storetest.ChangedShopLine("product", "jar", `{"type":"product","id":"drill-draft"}`, `{"type":"product","id":"jar"}`), "product", "relationships.parent.data.id", []string{"must be another product"}},
	}
}

func importErrorsOfLine(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		for _, c := range []struct {
			name, line string
			members    []string
		}{
			{"of shape", `{"type":"product","id":7,"attributes":{"name":5,"colour":1,"tags":[1,"a",2]},"relationships":[]}`,
				[]string{"id", "attributes.name", "attributes.colour", "attributes.tags.0", "attributes.tags.2", "relationships"}},
			{"of meaning", `{"type":"product","id":"a b","attributes":{"name":"A","slug":"a","status":"gone","created_at":"?","locales":{"??":{}}}}`,
				[]string{"id", "attributes.sku", "attributes.status", "attributes.created_at", "attributes.locales.??"}},
			{"of shape and of meaning", storetest.ChangedShopLine("product", "frame", `"sku":"FRAME"`, `"sku":"","colour":1`),
				[]string{"attributes.sku", "attributes.colour"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(c.line), exchange.ImportOptions{})
				require.ElementsMatch(t, c.members, membersOf(storetest.ImportErrors(t, err)))
			})
		}
	}
}

func importReferences(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		for _, c := range []errorCase{
			{"a catalog's hierarchy", storetest.ShopLine("catalog", "outlet"), "catalog", "attributes.hierarchies.0", []string{`hierarchy "seasons"`}},
			{"a catalog's price book", storetest.ShopLine("catalog", "outlet"), "catalog", "attributes.pricebook_ids.0.id", []string{`pricebook "standard"`}},
			{"a rule's catalog", storetest.ShopLine("catalog_rule", "everyone"), "catalog_rule", "attributes.catalog_id", []string{`catalog "main"`}},
			{"a price's book", storetest.ShopLine("product-price", "vip-anvil"), "product-price", "relationships.pricebook.data.id", []string{`pricebook "vip"`}},
			{"a node's hierarchy", storetest.ShopLine("node", "hand-tools"), "node", "relationships.hierarchy.data.id", []string{`hierarchy "workshop"`}},
			{"a node's parent", storetest.ShopLine("node", "hand-tools"), "node", "relationships.parent.data.id", []string{`node "tools"`}},
			{"a code's promotion", storetest.ShopLine("promotion_code", "code-3"), "promotion_code", "promotion_id", []string{`promotion "auto"`}},
			{"a usage's promotion", storetest.ShopLine("code_usage", "usage-1"), "code_usage", "promotion_id", []string{`promotion "ten-off"`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines("", c.line)), exchange.ImportOptions{})
				errs := storetest.ImportErrors(t, err)
				require.Contains(t, membersOf(errs), c.member)
				for _, e := range errs {
					require.Equal(t, 2, e.Line)
					require.Equal(t, c.kind, e.Type)
				}
				require.ErrorContains(t, &exchange.ImportErrors{Errors: errs[:1], Count: 1}, "neither in the file nor in the store")
				var reported []string
				for _, e := range errs {
					reported = append(reported, e.Error())
				}
				for _, word := range c.words {
					require.Contains(t, strings.Join(reported, "\n"), word)
				}
				storetest.Import(t, s, storetest.ShopFile)
				storetest.Import(t, s, storetest.JoinLines(c.line)) // valid after the store has it
			})
		}
		t.Run("each line with a missing reference is reported", func(t *testing.T) {
			storetest.DeleteAllRows(t, db)
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(storetest.ShopLine("node", "sale"), storetest.ShopLine("node", "empty"))), exchange.ImportOptions{})
			require.Len(t, storetest.ImportErrors(t, err), 4) // two hierarchies and two attributes
		})
		t.Run("references of products may be missing", func(t *testing.T) {
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, storetest.JoinLines(storetest.ShopLine("product", "kit"), storetest.ShopLine("product", "jar"), storetest.ShopLine("product", "anvil"), storetest.ShopLine("hierarchy", "seasons"), storetest.ShopLine("node", "sale"), storetest.ShopLine("stock", "chalk")))
		})
	}
}

func importTrees(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, db := d.Store, d.DB
		node := func(id, hierarchy, parent string) string {
			text := `{"type":"node","id":"` + id + `","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"` + hierarchy + `"}}`
			if parent != "" {
				text += `,"parent":{"data":{"type":"node","id":"` + parent + `"}}`
			}
			return text + `}}`
		}
		for _, c := range []struct {
			name  string
			lines []string
			want  []int // invalid lines, counted in lines
			words string
		}{
			{"a node below itself", []string{node("a", "attic", "a")}, []int{1}, "not be the node itself"},
			{"nodes below each other", []string{node("a", "attic", "b"), node("b", "attic", "c"), node("c", "attic", "a")}, []int{1, 2, 3}, "or one of its descendants"},
			{"a node below one of another hierarchy", []string{node("a", "attic", "b"), node("b", "seasons", "")}, []int{1}, `same hierarchy, "attic"`},
			{"a node of the store below its own child", []string{node("tools", "workshop", "hand-tools")}, []int{1}, "or one of its descendants"},
			{"a node moved away from its child", []string{node("tools", "attic", "")}, []int{1}, "hierarchy"},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, storetest.ShopFile)
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(c.lines...)), exchange.ImportOptions{})
				errs := storetest.ImportErrors(t, err)
				var lines []int
				for _, e := range errs {
					lines = append(lines, e.Line)
					require.Equal(t, "node", e.Type)
					require.Contains(t, e.Error(), c.words)
				}
				require.Equal(t, c.want, lines)
				require.Equal(t, storetest.ShopFile, storetest.Export(t, s))
			})
		}
		t.Run("a tree moves to another hierarchy", func(t *testing.T) {
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, storetest.ShopFile)
			storetest.Import(t, s, storetest.JoinLines(node("tools", "attic", ""), node("hand-tools", "attic", "tools")))
		})
	}
}

func importErrorsIndependent(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		bad := storetest.ChangedShopLine("hierarchy", "workshop", `"name":"Workshop",`, ``)
		_, err := d.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(strings.Replace(storetest.ShopFile, storetest.ShopLine("hierarchy", "workshop"), bad, 1)), exchange.ImportOptions{})
		require.Equal(t, []string{"attributes.name"}, membersOf(storetest.ImportErrors(t, err)), "no errors of its nodes")
	}
}

func importRefused(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.ShopFile)
		for name, bad := range map[string]string{
			"a member": storetest.ChangedShopLine("product", "frame", `"live"`, `"?"`), "a reference": storetest.ChangedShopLine("catalog_rule", "club", `"outlet"`, `"nowhere"`), "no JSON": `{`,
		} {
			t.Run(name, func(t *testing.T) {
				for _, text := range []string{storetest.GenerateShop(t, 400, 9) + bad, bad + "\n" + storetest.GenerateShop(t, 400, 9)} {
					_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{})
					require.Len(t, storetest.ImportErrors(t, err), 1)
					require.Equal(t, storetest.ShopFile, storetest.Export(t, s))
				}
			})
		}
	}
}

func importLedger(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		before := storetest.Export(t, s)
		product := storetest.ChangedShopLine("product", "anvil", `"name":"Anvil"`, `"name":"New anvil"`)
		text := storetest.JoinLines(product, storetest.ShopLine("stock_transaction", "ledger-2"), storetest.ShopLine("stock_transaction", "ledger-3"))
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text+storetest.GenerateShop(t, 1500, 9)), exchange.ImportOptions{})
		errs := storetest.ImportErrors(t, err)
		require.Len(t, errs, 1)
		require.Equal(t, 2, errs[0].Line)
		storetest.RequireError(t, errs[0].Err, store.Unprocessable, "quantity", `"anvil"`, "-4 available and 4 allocated")
		require.Equal(t, before, storetest.Export(t, s), "lines before it are not written either")
		storetest.RequireStockConsistent(t, d.DB)

		// What is there already counts: the ledger goes on from it.
		storetest.Import(t, s, storetest.ShopFile)
		more := func(id, action string, quantity int) string {
			return fmt.Sprintf(`{"type":"stock_transaction","id":%q,"product_id":"anvil","action":%q,"quantity":%d,"created_at":"2024-03-01T00:00:00Z"}`, id, action, quantity)
		}
		storetest.Import(t, s, storetest.JoinLines(storetest.ShopLine("stock_transaction", "ledger-4"), more("m1", "decrement", 7), more("m2", "increment", 1)))
		require.Equal(t, 1, storetest.Available(t, s, "anvil"))
		before = storetest.Export(t, s)
		_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(more("m1", "decrement", 7), more("m3", "decrement", 1), more("m4", "allocate", 1), more("m5", "set", 2))), exchange.ImportOptions{Stock: true})
		require.Equal(t, 3, storetest.ImportErrors(t, err)[0].Line)
		require.Equal(t, before, storetest.Export(t, s))
		storetest.RequireStockConsistent(t, d.DB)
	}
}

func importManyErrors(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		_, err := d.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(strings.Repeat("{}\n", 250)), exchange.ImportOptions{})
		var errs *exchange.ImportErrors
		require.ErrorAs(t, err, &errs)
		require.Equal(t, 250, errs.Count)
		require.Len(t, errs.Errors, check.MaxImportErrors)
		require.ErrorContains(t, err, "250 errors, the first: line 1: ")
		for i, e := range errs.Errors {
			require.Equal(t, i+1, e.Line)
		}
	}
}

func importLongLine(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		const limit = 64 << 20 // a reader may exceed it by one buffer
		long := bytes.Repeat([]byte(" "), limit+2<<20)
		open := func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(storetest.ShopLine("file", "photo-1")+"\n"), bytes.NewReader(long))), nil
		}
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, open, exchange.ImportOptions{})
		require.ErrorContains(t, err, "line 2")
		require.ErrorContains(t, err, fmt.Sprint(limit))
		require.NotContains(t, storetest.Export(t, s), "photo-1")
	}
}

func importReadError(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, broken := d.Store, errors.New("the disk is gone")
		for name, open := range map[string]func() (io.ReadCloser, error){
			"at once": func() (io.ReadCloser, error) { return nil, broken },
			"midway": func() (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(strings.NewReader(storetest.ShopFile), failingReader{broken})), nil
			},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := s.Exchange.Import(t.Context(), storetest.Actor, open, exchange.ImportOptions{})
				require.ErrorIs(t, err, broken)
				require.NotContains(t, storetest.Export(t, s), "anvil")
			})
		}
	}
}

// failingReader fails each read.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

func importIgnored(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		var lines []string
		for i := range 30 {
			lines = append(lines, fmt.Sprintf(`{"type":"comet","id":"c%d","tail":true}`, i))
		}
		lines = append(lines,
			`{"type":"hierarchy","id":"h","colour":"red","attributes":{"name":"H","shape":{"a":1}}}`,
			`{"type":"product","id":"p","attributes":{"name":"P","sku":"P","slug":"p","status":"live","created_at":"2024-01-01T00:00:00Z","variations":[{"id":"v","name":"V","sort_order":1,"odd":1,"options":[]},{"id":"w","name":"W","sort_order":2,"odd":1,"options":[]}]},"relationships":{}}`)
		open := func(text string) func() (io.ReadCloser, error) {
			return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
		}
		report, err := d.Exchange.Import(t.Context(), storetest.Actor, open(storetest.JoinLines(lines[1:]...)), exchange.ImportOptions{Lenient: true})
		require.NoError(t, err)
		require.Equal(t, map[string]int{"hierarchy": 1, "product": 1}, report.Resources)
		require.Equal(t, map[string]int{"comet": 29, "hierarchy colour": 1, "hierarchy attributes.shape": 1, "product attributes.variations.*.odd": 2}, report.IgnoredCount)
		require.Len(t, report.Ignored, exchange.MaxIgnored)
		require.Equal(t, `line 1: comet: type is unknown: "comet".`, report.Ignored[0].Error())
		report, err = d.Exchange.Import(t.Context(), storetest.Actor, open(storetest.JoinLines(lines[30:]...)), exchange.ImportOptions{Lenient: true})
		require.NoError(t, err)
		var reported []string
		for _, passed := range report.Ignored {
			reported = append(reported, passed.Error())
		}
		require.Equal(t, []string{"line 1: hierarchy: attributes.shape is not a known member.", "line 1: hierarchy: colour is not a known member.",
			"line 2: product: attributes.variations.0.odd is not a known member.", "line 2: product: attributes.variations.1.odd is not a known member."}, reported)
		_, err = d.Exchange.Import(t.Context(), storetest.Actor, open(storetest.JoinLines(lines[31], `{"type":"product","id":5,"odd":1}`)), exchange.ImportOptions{Lenient: true})
		require.Equal(t, []string{"id"}, membersOf(storetest.ImportErrors(t, err)), "an invalid known member is still an error")
	}
}

// TestImportErrorsComeAfterTheirCause checks that a reference to a resource whose own line is wrong comes after that line's
// error, wherever both lines are.
func TestImportErrorsComeAfterTheirCause(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(
			`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`,
			`{"type":"product","id":"mug","attributes":{"name":"Mug","sku":"MUG","status":"alive"}}`,
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}`)), exchange.ImportOptions{})
		var found []string
		for _, e := range storetest.ImportErrors(t, err) {
			found = append(found, fmt.Sprint(e.Line, " ", strings.Join(e.Err.Path, ".")))
		}
		require.Equal(t, []string{"2 attributes.status", "3 ", "1 relationships.hierarchy.data.id"}, found)
	})
}

// attributesOf returns the members of count attributes.
func attributesOf(count int) string {
	members := make([]string, count)
	for i := range members {
		members[i] = fmt.Sprintf(`"a%d":1`, i)
	}
	return strings.Join(members, ",")
}
