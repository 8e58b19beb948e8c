package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// moreLines are what SalesShop has none of.
const moreLines = `
{"type":"settings","page_length":20,"currency":"USD","locale":"en","low_stock_threshold":3,"codes_ignore_case":true}
{"type":"file","id":"front","file_name":"front.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://files.example/front.jpg"},"meta":{"timestamps":{"created_at":"2024-01-01T00:00:00.000Z"},"dimensions":{"width":640,"height":480}}}
{"type":"file","id":"leaflet","file_name":"leaflet.pdf","mime_type":"application/pdf","public":false,"link":{"href":"https://files.example/leaflet.pdf"},"meta":{"timestamps":{"created_at":"2024-01-02T00:00:00.000Z"}}}
{"type":"attribute","id":"material","attributes":{"label":"Material","labels":{"fr":"Matière"},"attribute_type":"text","filterable":true,"searchable":true}}
{"type":"attribute","id":"weight","attributes":{"label":"Weight","attribute_type":"number","unit":"kg","filterable":true,"sortable":true}}
{"type":"product","id":"pot","attributes":{"name":"Pot","sku":"POT","slug":"a-pot","status":"live","commodity_type":"physical","description":"Holds a litre.","manufacturer_part_num":"P-1","upc_ean":"4006381333931","external_ref":"erp-1","tags":["new","iron"],"product_types":["standard"],"base_product":false,"created_at":"2024-01-03T00:00:00Z","seo":{"title":"A pot","description":"Of iron."},"locales":{"fr":{"name":"Théière","description":"Un litre.","seo":{"title":"Une théière"}},"de":{"name":"Kanne"}},"custom_attributes":{"material":"iron","weight":1.25},"custom_inputs":{"engraving":{"name":"Engraving"}},"extensions":{"products(care)":{"by":"hand"}},"shopper_attributes":{"origin":"Japan"}},"relationships":{"main_image":{"data":{"type":"main_image","id":"front"}},"files":{"data":[{"type":"file","id":"leaflet","created_at":"2024-01-04T00:00:00.000Z","alt":"Care"},{"type":"file","id":"front"}]},"related":{"accessories":["tea","dress"]}}}
{"type":"product","id":"tea-set","attributes":{"name":"Tea set","sku":"SET","slug":"tea-set","status":"live","base_product":false,"product_types":["bundle"],"created_at":"2024-01-04T00:00:00Z","components":{"pot":{"name":"Pot","min":1,"max":1,"sort_order":0,"options":[{"id":"pot","type":"product","quantity":1}]},"tea":{"name":"Tea","min":0,"max":3,"sort_order":1,"options":[{"id":"tea","type":"product","quantity":2}]}}},"relationships":{"component_products":{"data":[{"type":"product","id":"pot"},{"type":"product","id":"tea"}]}}}
{"type":"product","id":"cup","attributes":{"name":"Cup","sku":"CUP","slug":"cup","status":"draft","base_product":false,"created_at":"2024-01-05T00:00:00Z"}}
{"type":"hierarchy","id":"rooms","attributes":{"name":"Rooms","slug":"rooms","description":"By room.","seo":{"title":"Rooms"},"locales":{"fr":{"name":"Pièces"}},"created_at":"2024-01-01T00:00:00Z"}}
{"type":"node","id":"kitchen","attributes":{"name":"Kitchen","slug":"kitchen","description":"Where tea is made.","curated_products":["pot","tea"],"locales":{"fr":{"name":"Cuisine"}},"created_at":"2024-01-01T00:00:00Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"rooms"}},"products":{"data":[{"type":"product","id":"tea"},{"type":"product","id":"tea-set"},{"type":"product","id":"cup"},{"type":"product","id":"pot"}]}}}
{"type":"node","id":"shelf","attributes":{"name":"Shelf","created_at":"2024-01-01T00:00:00Z"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"rooms"}},"parent":{"data":{"type":"node","id":"kitchen"}},"products":{"data":[{"type":"product","id":"pot"}]}}}
{"type":"pricebook","id":"trade","attributes":{"name":"Trade","description":"For resellers."}}
{"type":"product-price","id":"pot-low","attributes":{"sku":"POT","currencies":{"USD":{"amount":4500,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"product-price","id":"pot-trade","attributes":{"sku":"POT","currencies":{"USD":{"amount":4000,"includes_tax":false}},"sales":{"dozen":{"schedule":{},"currencies":{"USD":{"amount":3500,"includes_tax":false}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"trade"}}}}
{"type":"price_modifier","id":"m7","attributes":{"name":"plain","modifier_type":"price_equals"}}
{"type":"synonym","id":"teapot","attributes":{"kind":"equivalent","terms":["pot","teapot"]}}
{"type":"synonym","id":"robe","attributes":{"kind":"one_way","locale":"fr","term":"robe","terms":["dress"]}}
{"type":"redirect","id":"old-pot","attributes":{"from":"old/pot.html"},"relationships":{"target":{"data":{"type":"product","id":"pot"}}}}
{"type":"redirect","id":"old-kitchen","attributes":{"from":"cooking"},"relationships":{"target":{"data":{"type":"node","id":"kitchen"}}}}
{"type":"redirect","id":"help","attributes":{"from":"help","to":"https://help.example/"}}
{"type":"catalog","id":"trade","attributes":{"name":"Trade","hierarchies":["rooms"],"pricebook_ids":[{"id":"trade","priority":1}],"locale":"en","currency":"EUR"}}
{"type":"catalog_rule","id":"everyone","attributes":{"name":"Everyone","catalog_id":"main"}}
{"type":"catalog_rule","id":"resellers","attributes":{"name":"Resellers","catalog_id":"trade","account_ids":["acme"],"account_tag_ids":["gold"],"customer_ids":["bob"],"channels":["web"],"tags":["trade"],"schedules":[{"valid_from":"2024-01-01T00:00:00.000Z"}]}}
{"type":"stock","id":"tea","available":8,"allocated":2,"total":10}
{"type":"stock","id":"pot","available":0,"allocated":0,"total":0}
{"type":"promotion","id":"ten-off","name":"Ten off","description":"Ten dollars off.","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2030-01-01T00:00:00Z","min_cart_value":[{"currency":"USD","amount":5000}],"max_applications_per_cart":1,"schema":{"currencies":[{"currency":"USD","amount":1000}]}}
{"type":"promotion_code","id":"code-1","promotion_id":"ten-off","code":"TEN","max_uses":5,"consume_unit":"per_item","user":["u1","u2"]}
{"type":"gateway","slug":"manual","name":"Invoice","enabled":true,"test":true}`

// A shop can be made by mutations alone: it exports what an import of the same lines exports, and shows the same pages. What no
// mutation writes is not in the lines: when a resource was changed last, ledgers of stock, usages of codes and API clients.
func TestShopMadeByMutations(t *testing.T) {
	t.Parallel()
	shops := map[string]string{"small": storetest.SalesShop() + moreLines}
	if testkit.QuickOrFull(1, 2) == 2 {
		shops["AdventureWorks"] = adventureWorks(t)
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		for name, text := range shops {
			t.Run(name, func(t *testing.T) {
				lines := shopLines(t, text)
				clock := withClock(testkit.NewClock(noon))
				imported := openShop(t, e, encodedLines(t, lines), clock)

				config := shop.Config{URL: e.OtherURL(t), Synchronous: "OFF", Sealer: storetest.NewSealer(t, 'k')}
				clock(&config)
				empty, err := shop.Open(t.Context(), config)
				require.NoError(t, err)
				t.Cleanup(func() { _ = empty.Close() })
				made := serveStore(t, empty)
				m := shopMaker{t, made, map[string][]map[string]any{}}
				for _, line := range lines {
					kind := line["type"].(string)
					m.lines[kind] = append(m.lines[kind], line)
				}
				m.write()
				m.publish()

				requireSameLines(t, exportedLines(t, imported.store), exportedLines(t, empty))
				requireSamePages(t, imported, made, m.lines)
			})
		}
	})
}

// shopLines decodes lines, without the time of the last change, which is the server's.
func shopLines(t *testing.T, text string) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(text) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		line := map[string]any{}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&line), text)
		if attributes := object(line, "attributes"); attributes != nil {
			delete(attributes, "updated_at")
			if strings.HasPrefix(line["type"].(string), "catalog") {
				delete(attributes, "created_at")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func encodedLines(t *testing.T, lines []map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		text, err := json.Marshal(line)
		require.NoError(t, err)
		b.Write(append(text, '\n'))
	}
	return b.String()
}

// exportedLines returns the lines of an export by what names them, without what the server sets.
func exportedLines(t *testing.T, s *shop.Store) map[string]any {
	t.Helper()
	lines := map[string]any{}
	for _, line := range shopLines(t, storetest.Export(t, s)) {
		kind, id := line["type"].(string), fmt.Sprint(line["id"])
		attributes := object(line, "attributes")
		switch kind {
		case "stock_transaction": // the changes of stock that made it so
			continue
		case "product":
			if parent := linked(line, "parent"); parent != "" && attributes["base_product_id"] == parent {
				delete(attributes, "base_product_id") // exports have the parent in any case
			}
		case "product-price":
			if len(object(attributes, "currencies")) == 0 { // salesUpsert made the price of these sales
				id = linked(line, "pricebook") + " " + attributes["sku"].(string)
				delete(line, "id")
			}
		case "gateway":
			id = line["slug"].(string)
		case "promotion_code":
			id = line["code"].(string)
			delete(line, "id")
		}
		if kind == "promotion" || kind == "promotion_code" || kind == "stock" {
			delete(line, "created_at")
			delete(line, "updated_at")
		}
		lines[kind+" "+id] = line
	}
	return lines
}

func requireSameLines(t *testing.T, want, got map[string]any) {
	t.Helper()
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for key, line := range want {
		require.Equal(t, line, got[key], key)
	}
}

// requireSamePages compares pages of products of both APIs.
func requireSamePages(t *testing.T, want, got *testServer, lines map[string][]map[string]any) {
	t.Helper()
	var paths []string
	for _, node := range lines["node"] {
		paths = append(paths, productsOf(node["id"].(string))+"?page[limit]=100")
	}
	for _, product := range lines["product"][:min(len(lines["product"]), 40)] {
		paths = append(paths, "/catalog/products/"+product["id"].(string))
	}
	paths = append(paths, "/catalog/products?page[limit]=100", "/catalog/products?page[limit]=100&page[offset]=100", "/catalog/hierarchies", "/catalog/nodes?page[limit]=100", "/v2/promotions")
	query := `{ products(first: 60) { totalCount nodes {` + graphtest.ProductScalars + ` } } attributes { key label } searched: products(filter: {search: "pot"}) { totalCount } redirect(path: "old/pot.html") { path } }`
	body, err := json.Marshal(map[string]any{"query": query})
	require.NoError(t, err)
	for _, currency := range []string{"USD", "EUR"} {
		found := 0
		for _, path := range paths {
			a, b := want.send(t, http.MethodGet, path, "", "X-Moltin-Currency", currency), got.send(t, http.MethodGet, path, "", "X-Moltin-Currency", currency)
			require.Equal(t, a.Code, b.Code, path)
			require.Equal(t, a.Body.String(), b.Body.String(), path)
			found += strings.Count(a.Body.String(), `"display_price"`)
		}
		require.Positive(t, found)
		a, b := want.send(t, http.MethodPost, "/graphql", string(body), "X-Moltin-Currency", currency), got.send(t, http.MethodPost, "/graphql", string(body), "X-Moltin-Currency", currency)
		require.NotContains(t, a.Body.String(), `"errors"`)
		require.Equal(t, a.Body.String(), b.Body.String())
	}
}

// shopMaker writes lines by mutations.
type shopMaker struct {
	t     *testing.T
	to    *testServer
	lines map[string][]map[string]any // by type
}

// send sends a mutation, which must have no errors, and returns its payload.
func (m shopMaker) send(mutation, payload string, input map[string]any) map[string]any {
	m.t.Helper()
	body, err := json.Marshal(map[string]any{
		"query":     `mutation($input: ` + graphtest.Schema().Mutation.Fields.ForName(mutation).Arguments[0].Type.String() + `) { done: ` + mutation + `(input: $input) { ` + payload + ` userErrors { field message } } }`,
		"variables": map[string]any{"input": input},
	})
	require.NoError(m.t, err)
	var answer struct {
		Data   struct{ Done map[string]any }
		Errors []any
	}
	sent := m.to.send(m.t, http.MethodPost, "/graphql", string(body))
	require.NoError(m.t, json.Unmarshal(sent.Body.Bytes(), &answer), sent.Body)
	require.Empty(m.t, answer.Errors, "%s of %s", mutation, body)
	require.Empty(m.t, answer.Data.Done["userErrors"], "%s of %s", mutation, body)
	return answer.Data.Done
}

// upsert sends items in batches.
func (m shopMaker) upsert(mutation string, items []map[string]any) {
	m.t.Helper()
	for batch := range slices.Chunk(items, 250) {
		m.send(mutation, "", map[string]any{"items": batch})
	}
}

// items returns the items of the lines of a type.
func (m shopMaker) items(kind string, item func(line, attributes map[string]any) map[string]any) (items []map[string]any) {
	for _, line := range m.lines[kind] {
		made := item(line, object(line, "attributes"))
		if made["key"] == nil { // of an attribute
			made["id"] = line["id"]
		}
		items = append(items, made)
	}
	return items
}

// write writes all lines.
func (m shopMaker) write() {
	for _, line := range m.lines["settings"] {
		m.send("settingsUpdate", "", picked(line, "page_length", "currency", "locale", "low_stock_threshold", "codes_ignore_case"))
	}
	m.upsert("attributesUpsert", m.items("attribute", attributeItem))
	m.upsert("filesUpsert", m.items("file", fileItem))
	m.upsert("productsUpsert", m.items("product", productItem))
	m.upsert("hierarchiesUpsert", m.items("hierarchy", nodeItem))
	m.upsert("catalogNodesUpsert", m.items("node", nodeItem))
	for _, node := range m.lines["node"] {
		attached := []any{}
		for _, product := range links(node, "products") {
			attached = append(attached, product["id"])
		}
		slices.Reverse(attached) // a line has the newest attachment last
		m.send("catalogNodeProductsSet", "", map[string]any{"id": node["id"], "productIds": attached})
		curated, _ := object(node, "attributes")["curated_products"].([]any)
		m.send("catalogNodeCurate", "", map[string]any{"id": node["id"], "productIds": append([]any{}, curated...)})
	}
	m.upsert("pricebooksUpsert", m.items("pricebook", func(_, attributes map[string]any) map[string]any { return picked(attributes, "name", "description") }))
	m.upsert("priceModifiersUpsert", m.items("price_modifier", modifierItem))
	m.writePrices()
	m.upsert("synonymsUpsert", m.items("synonym", func(_, attributes map[string]any) map[string]any {
		return upper(picked(attributes, "kind", "locale", "term", "terms"), "kind")
	}))
	m.upsert("redirectsUpsert", m.items("redirect", redirectItem))
	for _, line := range m.lines["catalog"] {
		attributes := object(line, "attributes")
		input := picked(attributes, "name", "locale", "currency")
		input["id"], input["hierarchyIds"], input["pricebooks"] = line["id"], attributes["hierarchies"], attributes["pricebook_ids"]
		m.send("catalogCreate", "", input)
	}
	for _, line := range m.lines["catalog_rule"] {
		input := picked(object(line, "attributes"), "name", "catalog_id", "account_ids", "account_tag_ids", "customer_ids", "channels", "tags", "schedules")
		input["id"] = line["id"]
		m.send("catalogRuleCreate", "", input)
	}
	m.writeStock()
	m.writePromotions()
	for _, line := range m.lines["gateway"] {
		m.send("gatewayUpdate", "", upper(picked(line, "slug", "name", "enabled", "test"), "slug"))
	}
}

// writePrices writes prices, then their sales.
func (m shopMaker) writePrices() {
	var prices, sales []map[string]any
	for _, line := range m.lines["product-price"] {
		attributes := object(line, "attributes")
		key := map[string]any{"pricebookId": linked(line, "pricebook"), "sku": attributes["sku"]}
		if list := amounts(attributes); len(list) > 0 {
			price := maps.Clone(key)
			price["id"], price["amounts"] = line["id"], list
			prices = append(prices, price)
		}
		of := object(attributes, "sales")
		for _, name := range slices.Sorted(maps.Keys(of)) {
			sale := picked(object(object(of, name), "schedule"), "valid_from", "valid_to")
			maps.Copy(sale, key)
			sale["name"], sale["amounts"] = name, amounts(object(of, name))
			sales = append(sales, sale)
		}
	}
	m.upsert("pricesUpsert", prices)
	m.upsert("salesUpsert", sales)
}

// writeStock creates stock, of which a part is allocated then.
func (m shopMaker) writeStock() {
	changes := []any{}
	for _, line := range m.lines["stock"] {
		m.send("stockCreate", "", map[string]any{"productId": line["id"], "quantity": line["total"]})
		if line["allocated"] != json.Number("0") {
			changes = append(changes, map[string]any{"productId": line["id"], "action": "ALLOCATE", "quantity": line["allocated"]})
		}
	}
	if len(changes) > 0 {
		m.send("stockTransact", "", map[string]any{"changes": changes})
	}
}

func (m shopMaker) writePromotions() {
	for _, line := range m.lines["promotion"] {
		input := picked(line, "id", "name", "description", "enabled", "automatic", "start", "end", "max_applications_per_cart")
		for member, name := range map[string]string{"min_cart_value": "minCartValue", "max_discount_value": "maxDiscountValue"} {
			if line[member] == nil {
				continue
			}
			list := []any{}
			for _, one := range line[member].([]any) {
				money := one.(map[string]any)
				list = append(list, map[string]any{"currency": money["currency"], "amount": money["amount"].(json.Number).String()})
			}
			input[name] = list
		}
		input["restDetails"] = map[string]any{"promotion_type": line["promotion_type"], "schema": line["schema"]}
		m.send("promotionCreate", "", input)
	}
	for _, line := range m.lines["promotion_code"] {
		code := upper(picked(line, "code", "consume_unit", "max_uses"), "consumeUnit")
		code["users"] = line["user"]
		m.send("promotionCodesCreate", "", map[string]any{"promotionId": line["promotion_id"], "codes": []any{code}})
	}
}

// publish publishes all catalogs, in order.
func (m shopMaker) publish() {
	ctx, cancel := context.WithCancel(m.t.Context())
	worker := make(chan struct{})
	go func() { defer close(worker); m.to.store.Jobs.Work(ctx) }()
	defer func() { cancel(); <-worker }()
	for _, line := range m.lines["catalog"] {
		job := m.send("catalogPublish", "job { id }", map[string]any{"catalogId": line["id"]})["job"].(map[string]any)["id"].(string)
		require.Eventually(m.t, func() bool {
			state := m.to.send(m.t, http.MethodPost, "/graphql", graphtest.RequestBody(`{ job(id: "`+job+`") { state error } }`, `{}`)).Body.String()
			require.NotContains(m.t, state, "FAILED")
			return strings.Contains(state, "SUCCEEDED")
		}, time.Minute, 5*time.Millisecond)
	}
}

func attributeItem(line, attributes map[string]any) map[string]any {
	item := picked(attributes, "label", "unit", "filterable", "searchable", "sortable")
	item["key"], item["type"] = line["id"], strings.ToUpper(attributes["attribute_type"].(string))
	item["labels"] = keyed(object(attributes, "labels"), "locale", func(label any) map[string]any { return map[string]any{"label": label} })
	return item
}

func fileItem(line, _ map[string]any) map[string]any {
	item, meta := picked(line, "file_name", "mime_type", "public"), object(line, "meta")
	item["href"], item["createdAt"] = object(line, "link")["href"], object(meta, "timestamps")["created_at"]
	maps.Copy(item, picked(object(meta, "dimensions"), "width", "height"))
	return item
}

func productItem(line, attributes map[string]any) map[string]any {
	item := picked(attributes, "name", "sku", "slug", "status", "commodity_type", "description", "manufacturer_part_num", "upc_ean", "external_ref",
		"tags", "product_types", "base_product", "price_modifiers", "variations", "seo", "created_at", "custom_inputs", "extensions", "shopper_attributes")
	upper(item, "status")
	item["optionIds"], item["parentId"], item["mainImageId"] = attributes["options"], nullable(linked(line, "parent")), nullable(linked(line, "main_image"))
	item["translations"] = translations(attributes)
	item["attributes"] = keyed(object(attributes, "custom_attributes"), "key", func(value any) map[string]any { return map[string]any{"value": value} })
	item["components"] = keyed(object(attributes, "components"), "key", func(value any) map[string]any {
		component := picked(value.(map[string]any), "name", "min", "max", "sort_order")
		options := []any{}
		for _, option := range value.(map[string]any)["options"].([]any) {
			options = append(options, map[string]any{"productId": option.(map[string]any)["id"], "quantity": option.(map[string]any)["quantity"]})
		}
		component["options"] = options
		return component
	})
	item["related"] = keyed(object(object(line, "relationships"), "related"), "kind", func(ids any) map[string]any { return map[string]any{"productIds": ids} })
	files, bundled := []any{}, []any{}
	for _, file := range links(line, "files") {
		item := picked(file, "id", "alt")
		item["attachedAt"] = file["created_at"]
		files = append(files, item)
	}
	for _, product := range links(line, "component_products") {
		bundled = append(bundled, product["id"])
	}
	item["files"], item["componentProductIds"] = files, bundled
	return item
}

// nodeItem is the item of a node or hierarchy.
func nodeItem(line, attributes map[string]any) map[string]any {
	item := picked(attributes, "name", "slug", "description", "seo", "created_at")
	item["translations"] = translations(attributes)
	if hierarchy := linked(line, "hierarchy"); hierarchy != "" {
		item["hierarchyId"], item["parentId"] = hierarchy, nullable(linked(line, "parent"))
	}
	return item
}

func modifierItem(_, attributes map[string]any) map[string]any {
	item := upper(picked(attributes, "name", "modifier_type"), "modifierType")
	item["amounts"] = amounts(attributes)
	return item
}

func redirectItem(line, attributes map[string]any) map[string]any {
	item := picked(attributes, "from", "to")
	target := object(object(object(line, "relationships"), "target"), "data")
	switch target["type"] {
	case "product":
		item["productId"] = target["id"]
	case "node":
		item["catalogNodeId"] = target["id"]
	}
	return item
}

// amounts returns the amounts of currencies.
func amounts(of map[string]any) []any {
	list := []any{}
	currencies := object(of, "currencies")
	for _, currency := range slices.Sorted(maps.Keys(currencies)) {
		amount := currencies[currency].(map[string]any)
		money := func(of map[string]any) any {
			return map[string]any{"currency": currency, "amount": of["amount"].(json.Number).String()}
		}
		item := picked(amount, "includes_tax")
		item["money"] = money(amount)
		item["tiers"] = keyed(object(amount, "tiers"), "name", func(value any) map[string]any {
			tier := value.(map[string]any)
			return map[string]any{"minimumQuantity": tier["minimum_quantity"], "money": money(tier)}
		})
		list = append(list, item)
	}
	return list
}

func translations(attributes map[string]any) []any {
	return keyed(object(attributes, "locales"), "locale", func(texts any) map[string]any { return picked(texts.(map[string]any), "name", "description", "seo") })
}

// keyed returns an object as a list, whose elements have the key as a member.
func keyed(of map[string]any, key string, element func(value any) map[string]any) []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		one := element(of[name])
		one[key] = name
		list = append(list, one)
	}
	return list
}

// picked returns members that a line has, with the names of the schema at any depth but in what is the merchant's own.
func picked(from map[string]any, names ...string) map[string]any {
	item := map[string]any{}
	for _, name := range names {
		value, has := from[name]
		if !has {
			continue
		}
		if name == "variations" || name == "schedules" {
			value = renamed(value)
		}
		item[camelCase(name)] = value
	}
	return item
}

func renamed(value any) any {
	switch value := value.(type) {
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = renamed(value[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, member := range value {
			object[camelCase(name)] = renamed(member)
		}
		return object
	}
	return value
}

func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i := range words[1:] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return strings.Join(words, "")
}

// upper writes members as values of enums.
func upper(item map[string]any, members ...string) map[string]any {
	for _, member := range members {
		if value, has := item[member].(string); has {
			item[member] = strings.ToUpper(value)
		}
	}
	return item
}

func object(of map[string]any, member string) map[string]any {
	value, _ := of[member].(map[string]any)
	return value
}

// linked returns the id of a relationship to one resource.
func linked(line map[string]any, relationship string) string {
	id, _ := object(object(object(line, "relationships"), relationship), "data")["id"].(string)
	return id
}

func links(line map[string]any, relationship string) (list []map[string]any) {
	data, _ := object(object(line, "relationships"), relationship)["data"].([]any)
	for _, link := range data {
		list = append(list, link.(map[string]any))
	}
	return list
}

func nullable(id string) any {
	if id == "" {
		return nil
	}
	return id
}
