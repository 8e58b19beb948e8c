package graph_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// writtenMember is a member that a mutation writes, with the values of an input before, after, and a wrong one.
type writtenMember struct {
	mutation, input        string // without the member
	before, after, wrong   string
	kind, id               string // in the audit log
	path                   string // of the change
	field                  string // of the error, if it is not the path
	diffKind, diffID, diff string // in the diff of releases; empty for what releases do not have
}

func writtenMembers() (list []writtenMember) {
	long := `"` + strings.Repeat("x", 1100) + `"`
	add := func(m writtenMember, members ...[5]string) {
		for _, values := range members {
			m.before, m.after, m.wrong, m.path, m.field = values[0], values[1], values[2], values[3], values[4]
			if m.field == "" {
				m.field = m.path
			}
			if m.diffKind != "" && m.diffKind != "PRICES" {
				m.diff, m.diffID = m.path, m.id
			}
			list = append(list, m)
		}
	}
	add(writtenMember{mutation: "productsUpsert", input: `id: "brush"`, kind: "PRODUCT", id: "brush", diffKind: "PRODUCT"},
		[5]string{`name: "A"`, `name: "B"`, `name: ""`, "name"},
		[5]string{`manufacturerPartNum: "A"`, `manufacturerPartNum: "B"`, `manufacturerPartNum: ` + long, "manufacturerPartNum"},
		[5]string{`mainImageId: "photo-1"`, `mainImageId: "photo-2"`, `mainImageId: "!"`, "mainImageId"},
		[5]string{`seo: {title: "A"}`, `seo: {title: "B"}`, `seo: {title: ` + long + `}`, "seo/title"},
		[5]string{`translations: {locale: "fr", name: "C"}`, `translations: {locale: "fr", name: "D"}`, `translations: {locale: "fr", name: ` + long + `}`, "translations/fr/name", "translations/0/name"},
		[5]string{`translations: {locale: "fr", seo: {title: "C"}}`, `translations: {locale: "fr", seo: {title: "D"}}`, `translations: {locale: "fr", seo: {title: ` + long + `}}`, "translations/fr/seo/title", "translations/0/seo/title"},
		[5]string{`attributes: {key: "weight", value: 1}`, `attributes: {key: "weight", value: 2}`, `attributes: {key: "weight", value: "x"}`, "attributes/weight/value", "attributes/0/value"},
		[5]string{`related: {kind: "goes_with", productIds: ["anvil"]}`, `related: {kind: "goes_with", productIds: ["chalk"]}`, `related: {kind: "goes_with", productIds: ["!"]}`, "related/goes_with", "related/0/productIds/0"},
		[5]string{`extensions: {my_field: {sort_order: 1}}`, `extensions: {my_field: {sort_order: 2}}`, `extensions: 3`, "extensions/my_field/sort_order", "extensions"},
		[5]string{`tags: ["a"]`, `tags: ["a", "b"]`, `tags: ["a", ""]`, "tags", "tags/1"})
	const component = `components: {key: "my_part", name: "Part", min: 0, max: %, sortOrder: 1, options: {productId: "anvil", quantity: 1}}`
	add(writtenMember{mutation: "productsUpsert", input: `id: "kit"`, kind: "PRODUCT", id: "kit", diffKind: "PRODUCT"},
		[5]string{strings.Replace(component, "%", "1", 1), strings.Replace(component, "%", "2", 1), strings.Replace(component, "%", "-1", 1), "components/my_part/max", "components/0/max"})
	add(writtenMember{mutation: "catalogNodesUpsert", input: `id: "paints"`, kind: "CATALOG_NODE", id: "paints", diffKind: "CATALOG_NODE"},
		[5]string{`name: "A"`, `name: "B"`, `name: ""`, "name"},
		[5]string{`mainImageId: "photo-1"`, `mainImageId: "photo-2"`, `mainImageId: "!"`, "mainImageId"},
		[5]string{`seo: {title: "A"}`, `seo: {title: "B"}`, `seo: {title: ` + long + `}`, "seo/title"},
		[5]string{`translations: {locale: "fr", name: "C"}`, `translations: {locale: "fr", name: "D"}`, `translations: {locale: "fr", name: ` + long + `}`, "translations/fr/name", "translations/0/name"},
		[5]string{`attributes: {key: "weight", value: 1}`, `attributes: {key: "weight", value: 2}`, `attributes: {key: "weight", value: "x"}`, "attributes/weight/value", "attributes/0/value"})
	add(writtenMember{mutation: "hierarchiesUpsert", input: `id: "workshop"`, kind: "HIERARCHY", id: "workshop", diffKind: "HIERARCHY"},
		[5]string{`translations: {locale: "fr", description: "C"}`, `translations: {locale: "fr", description: "D"}`, `translations: {locale: "!", description: "B"}`, "translations/fr/description", "translations/0/locale"},
		[5]string{`seo: {title: "A"}`, `seo: {title: "B"}`, `seo: {title: ` + long + `}`, "seo/title"})
	const amount = `amounts: {money: {currency: "USD", amount: "%"}, tiers: {name: "by_ten", minimumQuantity: #, money: {currency: "USD", amount: "300"}}}`
	price := func(minor, quantity string) string {
		return strings.NewReplacer("%", minor, "#", quantity).Replace(amount)
	}
	prices := writtenMember{mutation: "pricesUpsert", input: `pricebookId: "standard", sku: "BRUSH"`, kind: "PRICE", id: "standard-brush", diffKind: "PRICES", diffID: "brush", diff: "prices/USD/money/amount"}
	add(prices, [5]string{price("600", "10"), price("700", "10"), price("x", "10"), "amounts/USD/money/amount", "amounts/0/money/amount"})
	prices.diff = "prices/USD/tiers/by_ten/minimumQuantity"
	add(prices, [5]string{price("600", "10"), price("700", "20"), price("700", "0"), "amounts/USD/tiers/by_ten/minimumQuantity", "amounts/0/tiers/0/minimumQuantity"})
	sale := strings.Split(amount, ", tiers")[0] + "}"
	prices.mutation, prices.input, prices.diff = "salesUpsert", `pricebookId: "standard", sku: "BRUSH", name: "my_sale"`, "prices/USD/sales/my_sale/money/amount"
	add(prices, [5]string{strings.Replace(sale, "%", "200", 1), strings.Replace(sale, "%", "100", 1), strings.Replace(sale, "%", "x", 1), "sales/my_sale/amounts/USD/money/amount", "amounts/0/money/amount"})
	prices.diff = "prices/USD/sales/my_sale/validTo"
	add(prices, [5]string{`validTo: "2030-01-01T00:00:00Z"`, `validTo: "2031-01-01T00:00:00Z"`, `validFrom: "2032-01-01T00:00:00Z", validTo: "2031-01-01T00:00:00Z"`, "sales/my_sale/validTo", "validTo"})
	add(writtenMember{mutation: "priceModifiersUpsert", input: `id: "bulk-1"`, kind: "PRICE_MODIFIER", id: "bulk-1"},
		[5]string{strings.Replace(sale, "%", "200", 1), strings.Replace(sale, "%", "100", 1), strings.Replace(sale, "%", "x", 1), "amounts/USD/money/amount", "amounts/0/money/amount"})
	add(writtenMember{mutation: "pricebooksUpsert", input: `id: "standard"`, kind: "PRICEBOOK", id: "standard"}, [5]string{`name: "A"`, `name: "B"`, `name: ""`, "name"})
	add(writtenMember{mutation: "filesUpsert", input: `id: "photo-1"`, kind: "FILE", id: "photo-1", diffKind: "FILE"},
		[5]string{`href: "https://cdn.example/a"`, `href: "https://cdn.example/b"`, `href: ""`, "href"},
		[5]string{`width: 1, height: 2`, `width: 2, height: 2`, `width: -1, height: 2`, "width"})
	add(writtenMember{mutation: "attributesUpsert", input: `key: "brand"`, kind: "ATTRIBUTE", id: "brand", diffKind: "ATTRIBUTE"},
		[5]string{`label: "A"`, `label: "B"`, `label: ""`, "label"},
		[5]string{`labels: {locale: "fr", label: "A"}`, `labels: {locale: "fr", label: "B"}`, `labels: {locale: "fr", label: ` + long + `}`, "labels/fr", "labels/0/locale"})
	add(writtenMember{mutation: "synonymsUpsert", input: `id: "lutes"`, kind: "SYNONYM", id: "lutes", diffKind: "SYNONYM"},
		[5]string{`terms: ["a", "b"]`, `terms: ["a", "c"]`, `terms: ["a", ""]`, "terms", "terms/1"})
	add(writtenMember{mutation: "redirectsUpsert", input: `id: "help"`, kind: "REDIRECT", id: "help", diffKind: "REDIRECT"},
		[5]string{`to: "https://help.example/a"`, `to: "https://help.example/b"`, `to: "/"`, "to"})
	add(writtenMember{mutation: "catalogUpdate", input: `id: "outlet"`, kind: "CATALOG", id: "outlet"},
		[5]string{`name: "A"`, `name: "B"`, `name: ""`, "name"},
		[5]string{`hierarchyIds: ["seasons"]`, `hierarchyIds: ["seasons", "attic"]`, `hierarchyIds: ["seasons", "none"]`, "hierarchyIds", "hierarchyIds/1"},
		[5]string{`pricebooks: {id: "standard", priority: 1}`, `pricebooks: {id: "standard", priority: 2}`, `pricebooks: {id: "none", priority: 2}`, "pricebooks", "pricebooks/0/id"})
	add(writtenMember{mutation: "catalogRuleUpdate", input: `id: "club"`, kind: "CATALOG_RULE", id: "club"},
		[5]string{`accountTagIds: ["a"]`, `accountTagIds: ["b"]`, `accountTagIds: ["!"]`, "accountTagIds", "accountTagIds/0"})
	add(writtenMember{mutation: "promotionUpdate", input: `id: "ten-off"`, kind: "PROMOTION", id: "ten-off"},
		[5]string{`name: "A"`, `name: "B"`, `name: ""`, "name"},
		[5]string{`maxApplicationsPerCart: 1`, `maxApplicationsPerCart: 2`, `maxApplicationsPerCart: -1`, "maxApplicationsPerCart"},
		[5]string{`targetCatalogIds: ["main"]`, `targetCatalogIds: ["outlet"]`, ``, "targetCatalogIds"},
		[5]string{`minCartValue: {currency: "USD", amount: "1"}`, `minCartValue: {currency: "USD", amount: "2"}`, `minCartValue: {currency: "USD", amount: "x"}`, "minCartValue", "minCartValue/0/amount"},
		[5]string{`details: {itemPercentDiscount: {percent: "5", skus: ["ANVIL"]}}`, `details: {itemPercentDiscount: {percent: "5", skus: ["ANVIL", "BRUSH"]}}`, `details: {itemPercentDiscount: {percent: "x"}}`, "details/itemPercentDiscount/skus", "details/itemPercentDiscount/percent"})
	add(writtenMember{mutation: "promotionUpdate", input: `id: "auto"`, kind: "PROMOTION", id: "auto"},
		[5]string{`details: {percentDiscount: {percent: "5", percentByCurrency: {currency: "USD", percent: "6"}}}`, `details: {percentDiscount: {percent: "5", percentByCurrency: {currency: "USD", percent: "7"}}}`, ``, "details/percentDiscount/percentByCurrency"},
		[5]string{`itemConditions: {template: "t", field: "f", type: STRING, value: "a"}`, `itemConditions: {template: "t", field: "f", type: STRING, value: "b"}`, ``, "itemConditions"})
	add(writtenMember{mutation: "gatewayUpdate", input: `slug: MANUAL`, kind: "GATEWAY", id: "manual"},
		[5]string{`name: "A"`, `name: "B"`, `name: ` + long, "name"})
	add(writtenMember{mutation: "catalogReleaseUpdate", input: `releaseId: "1"`, kind: "RELEASE", id: "1"},
		[5]string{`label: "a"`, `label: "b"`, `label: ` + long, "label"})
	add(writtenMember{mutation: "settingsUpdate", kind: "SETTINGS", id: "settings"},
		[5]string{`lowStockThreshold: 1`, `lowStockThreshold: 2`, `lowStockThreshold: -1`, "lowStockThreshold"})
	add(writtenMember{mutation: "stockCreate", input: `productId: "glue"`, kind: "STOCK", id: "glue"},
		[5]string{``, `quantity: 2`, `quantity: -1`, "quantity"})
	return list
}

// inInput reports whether the input of a mutation has a member at a path, with keys in the place of positions.
func inInput(mutation string, path []string) bool {
	schema := graphtest.Schema()
	input := schema.Types[schema.Mutation.Fields.ForName(mutation).Arguments.ForName("input").Type.Name()]
	if items := input.Fields.ForName("items"); items != nil {
		input = schema.Types[items.Type.Name()]
	}
	if mutation == "salesUpsert" { // the members of a sale, by its name
		path = path[2:]
	}
	for len(path) > 0 {
		member := input.Fields.ForName(path[0])
		if member == nil {
			return false
		}
		input, path = schema.Types[member.Type.Name()], path[1:]
		if input.Kind != ast.InputObject {
			return len(path) == 0 || input.Name == "JSON"
		}
		if member.Type.Elem != nil && len(path) > 0 {
			path = path[1:]
		}
	}
	return true
}

// A dry run of a creation has the members that the creation and the audit log have. Later dry runs of an operation find what it would create.
func TestCreationsShowTheirMembers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		type change struct {
			Field []string
			After *string
		}
		type payload struct {
			Items                []struct{ Changes []change }
			Warnings, UserErrors []struct{ Message string }
		}
		send := func(dryRun bool) (data map[string]payload) {
			const members = ` { items { changes { field after } } warnings { message } userErrors { message } } `
			query := `mutation($dry: Boolean!) { hierarchiesUpsert(input: {items: {id: "bar", name: "Bar"}, dryRun: $dry})` + members + `catalogNodesUpsert(input: {items: {id: "cups", hierarchyId: "bar", name: "Cups"}, dryRun: $dry})` + members +
				`pricebooksUpsert(input: {items: {id: "list", name: "List"}, dryRun: $dry})` + members + `productsUpsert(input: {items: {id: "bowl", sku: "BOWL", name: "Bowl", status: DRAFT, tags: ["a"]}, dryRun: $dry})` + members +
				`pricesUpsert(input: {items: {id: "list-bowl", pricebookId: "list", sku: "BOWL", amounts: {money: {currency: "USD", amount: "5"}}}, dryRun: $dry})` + members + `}`
			s.Post(t, query, graphtest.Variables{"dry": dryRun}).Read(t, &data)
			return data
		}
		dry := send(true)
		for name, one := range dry {
			require.Empty(t, one.Warnings, name)
			require.Empty(t, one.UserErrors, name)
		}
		require.Contains(t, dry["pricesUpsert"].Items[0].Changes, change{[]string{"amounts", "USD", "money", "amount"}, new("5")})
		require.Equal(t, dry, send(false))
		for mutation, of := range map[string][2]string{"productsUpsert": {"PRODUCT", "bowl"}, "pricesUpsert": {"PRICE", "list-bowl"}, "catalogNodesUpsert": {"CATALOG_NODE", "cups"}} {
			var data struct {
				AuditEvents struct {
					Nodes []struct{ Members []change }
				}
			}
			s.Post(t, `{ auditEvents(first: 1, filter: {kind: `+of[0]+`, resourceId: "`+of[1]+`"}) { nodes { members { field after } } } }`, nil).Read(t, &data)
			require.Equal(t, dry[mutation].Items[0].Changes, slices.DeleteFunc(data.AuditEvents.Nodes[0].Members, func(c change) bool { return c.Field[0] == "updatedAt" }))
		}
	})
}

// A member has one path and one form, however it is shown: in a dry run, in a user error, in the audit log and in the diff of releases.
func TestMembersHaveOnePath(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		type change struct {
			Field         []string
			Before, After *string
		}
		type payload struct {
			Items      []struct{ Changes []change }
			UserErrors []change
		}
		send := func(m writtenMember, value, options string) (p payload) {
			t.Helper()
			input, selection := m.input+" "+value, "userErrors { field }"
			if strings.HasSuffix(m.mutation, "Upsert") {
				input, selection = "items: {"+input+"}"+options, selection+" items { changes { field before after } }"
			}
			var data map[string]payload
			s.Post(t, `mutation { `+m.mutation+`(input: {`+input+`}) { `+selection+` } }`, nil).Read(t, &data)
			return data[m.mutation]
		}
		paths := func(changes []change) (list []string) {
			for _, c := range changes {
				list = append(list, strings.Join(c.Field, "/"))
			}
			return list
		}
		publish := func() string {
			made, err := s.Store.Publisher.Publish(t.Context(), "test", "main", nil)
			require.NoError(t, err)
			return strconv.FormatInt(made.ID, 10)
		}
		members := writtenMembers()
		for _, m := range members {
			require.True(t, inInput(m.mutation, strings.Split(m.path, "/")), "%s has no %s", m.mutation, m.path)
			if m.before != "" {
				require.Empty(t, send(m, m.before, "").UserErrors, "%s %s", m.mutation, m.before)
			}
		}
		from, changes := publish(), map[string][]change{} // by resource and path
		for _, m := range members {
			item := "input/"
			if strings.HasSuffix(m.mutation, "Upsert") {
				item += "items/0/"
				dry := send(m, m.after, ", dryRun: true")
				require.Len(t, dry.Items, 1, "%s %s", m.mutation, m.after)
				require.Equal(t, []string{m.path}, paths(dry.Items[0].Changes), "%s %s", m.mutation, m.after)
				changes[m.id+" "+m.path] = dry.Items[0].Changes
			}
			if m.wrong != "" {
				require.Equal(t, []string{item + m.field}, paths(send(m, m.wrong, "").UserErrors), "%s %s", m.mutation, m.wrong)
			}
			require.Empty(t, send(m, m.after, "").UserErrors, "%s %s", m.mutation, m.after)
			var data struct {
				AuditEvents struct {
					Nodes []struct{ Members []change }
				}
			}
			s.Post(t, `{ auditEvents(first: 1, filter: {kind: `+m.kind+`, resourceId: "`+m.id+`"}) { nodes { members { field before after } } } }`, nil).Read(t, &data)
			require.Len(t, data.AuditEvents.Nodes, 1, "%s %s", m.kind, m.id)
			logged := slices.DeleteFunc(data.AuditEvents.Nodes[0].Members, func(c change) bool { return c.Field[0] == "updatedAt" })
			require.Equal(t, []string{m.path}, paths(logged), "%s %s", m.mutation, m.after)
			if written := changes[m.id+" "+m.path]; written != nil {
				require.Equal(t, written, logged, "%s %s", m.mutation, m.after)
			}
			changes[m.id+" "+m.path] = logged
		}
		var data struct {
			CatalogReleaseDiff struct {
				Changes []struct {
					Kind, UUID string
					Members    []change
				}
			}
		}
		s.Post(t, `{ catalogReleaseDiff(fromId: "`+from+`", toId: "`+publish()+`", first: 100) { changes { kind uuid members { field before after } } } }`, nil).Read(t, &data)
		found := map[string][]string{}
		for _, c := range data.CatalogReleaseDiff.Changes {
			found[c.Kind+" "+c.UUID] = paths(c.Members)
			for _, member := range c.Members {
				if written := changes[c.UUID+" "+strings.Join(member.Field, "/")]; written != nil {
					require.Equal(t, written, []change{member})
				}
			}
		}
		for _, m := range members {
			if m.diff != "" {
				require.Contains(t, found[strings.Replace(m.diffKind, "PRICES", "PRODUCT", 1)+" "+m.diffID], m.diff, "%s %s", m.mutation, m.after)
			}
		}
	})
}
