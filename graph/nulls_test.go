package graph_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/generated"
	"portico/graph/graphtest"
	"portico/store/storetest"
)

// updates has, for each mutation that updates, the input's key, values for its members, and a
// query that reads them.
var updates = map[string]struct{ key, values, read string }{
	"promotionUpdate": {`id: "ten-off"`, `minCartValue: [{currency: "USD", amount: "5"}], maxApplicationsPerCart: 2, details: {percentDiscount: {percent: "5", percentByCurrency: [{currency: "USD", percent: "6"}]}}, maxDiscountValue: [{currency: "USD", amount: "5"}], targetCatalogIds: ["main"], itemConditions: [{template: "t", field: "f", type: BOOLEAN, value: "true"}]`,
		`promotion(id: "ten-off") { name description promotionType enabled automatic start end minCartValue { amount } maxDiscountValue { amount } maxApplicationsPerCart restDetails targetCatalogUuids itemConditions { field } }`},
	"gatewayUpdate":        {`slug: CARD_PROCESSOR`, `name: "Mine", enabled: true, test: true, merchantId: "m", username: "u", password: $secret`, `gateway(slug: CARD_PROCESSOR) { name enabled test merchantId username passwordSet }`},
	"settingsUpdate":       {``, `pageLength: 7, currency: "EUR", locale: "fr"`, `settings { pageLength currency locale }`},
	"catalogUpdate":        {`id: "main"`, `locale: "fr", currency: "EUR"`, `catalog(id: "main") { name hierarchies { uuid } pricebooks { pricebook { uuid } } locale currency }`},
	"catalogRuleUpdate":    {`id: "everyone"`, `accountIds: ["a"], accountTagIds: ["a"], customerIds: ["a"], channels: ["a"], tags: ["a"], schedules: [{validFrom: "2024-01-01T00:00:00Z"}]`, `catalogRule(id: "everyone") { name catalog { uuid } accountIds accountTagIds customerIds channels tags schedules { validFrom } }`},
	"catalogReleaseUpdate": {`releaseId: "1"`, `label: "a", note: "b", retained: true`, `catalogRelease(id: "1") { label note retained }`},
}

// fullItems has, for each mutation of items in which null clears a member, an item with all members that it may have. The
// members of key say which resource it is.
var fullItems = map[string]struct{ key, item string }{
	"productsUpsert": {`{"id":"mug"}`, `{"sku":"MUG","name":"Mug","slug":"a-mug","status":"LIVE","tags":["t"],"productTypes":["p"],"baseProduct":true,"parentId":"easel","optionIds":["oak"],"priceModifiers":["m"],
		"variations":[{"id":"v","name":"V","options":[{"id":"o","name":"O"}]}],"mainImageId":"f","files":[{"id":"f","attachedAt":"2024-01-01T00:00:00Z"}],
		"componentProductIds":["anvil"],"components":[{"key":"c","name":"C","options":[{"productId":"anvil"}]}],"related":[{"kind":"k","productIds":["anvil"]}],
		"seo":{"title":"T","description":"D"},"translations":[{"locale":"fr","name":"N","description":"D","seo":{"title":"T","description":"D"}}],
		"attributes":[{"key":"brand","value":"LG"}],"customInputs":{"a":1},"extensions":{"a":1},"shopperAttributes":{"a":1},"createdAt":"2024-01-01T00:00:00Z"}`},
	"catalogNodesUpsert": {`{"id":"n"}`, `{"hierarchyId":"attic","parentId":"box","name":"N","slug":"n","description":"D","position":1,"mainImageId":"f","seo":{"title":"T","description":"D"},
		"translations":[{"locale":"fr","name":"N","description":"D","seo":{"title":"T","description":"D"}}],"attributes":[{"key":"brand","value":"LG"}]}`},
	"hierarchiesUpsert": {`{"id":"h"}`, `{"name":"N","slug":"n","description":"D","seo":{"title":"T","description":"D"},
		"translations":[{"locale":"fr","name":"N","description":"D","seo":{"title":"T","description":"D"}}]}`},
	"filesUpsert":      {`{"id":"f"}`, `{"fileName":"f.jpg","mimeType":"image/jpeg","public":true,"href":"https://f.example/f.jpg","width":1,"height":1}`},
	"attributesUpsert": {`{"key":"a"}`, `{"label":"A","labels":[{"locale":"fr","label":"A"}],"type":"NUMBER","unit":"kg","filterable":true,"searchable":true,"sortable":true}`},
	"pricebooksUpsert": {`{"id":"b"}`, `{"name":"B","description":"D"}`},
	"salesUpsert":      {`{"pricebookId":"standard","sku":"ANVIL","name":"s"}`, `{"validFrom":"2024-01-01T00:00:00Z","validTo":"2025-01-01T00:00:00Z","amounts":[{"money":{"currency":"USD","amount":"1"},"includesTax":true}]}`},
	"synonymsUpsert":   {`{"id":"s"}`, `{"kind":"ONE_WAY","locale":"en","term":"a","terms":["b"]}`},

	"priceModifiersUpsert": {`{"id":"m"}`, `{"name":"m","modifierType":"PRICE_EQUALS","amounts":[{"money":{"currency":"USD","amount":"1"},"includesTax":true}]}`},
}

// nullIsAbsent are members of items whose description says what null means, or that are changed by another member.
var nullIsAbsent = []string{"createdAt", "amounts.tiers", "removeCurrencies", "files.alt"}

// Null clears each member of an item at any depth, or is an error if the member is required. An absent one stays.
func TestItemsClearMembersWithNull(t *testing.T) {
	t.Parallel()
	schema := graphtest.Schema()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := graphtest.Open(t, e, graphtest.Shop())
		for _, mutation := range schema.Mutation.Fields {
			input := schema.Types[mutation.Arguments.ForName("input").Type.Name()]
			items := input.Fields.ForName("items")
			c, known := fullItems[mutation.Name]
			if items == nil || strings.HasSuffix(mutation.Name, "Delete") || mutation.Name == "pricesUpsert" || mutation.Name == "redirectsUpsert" {
				require.False(t, known, mutation.Name)
				continue // TestProductMutations has their nulls: the last member cannot be cleared
			}
			require.True(t, known, "add a full item of %s", mutation.Name)
			var key, full map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.key), &key))
			require.NoError(t, json.Unmarshal([]byte(c.item), &full))
			if mutation.Name == "productsUpsert" {
				maps.Copy(full, productTexts())
			}
			send := func(members map[string]any, dryRun bool) (outcome string, userErrors int) {
				item := maps.Clone(key)
				maps.Copy(item, members)
				var written struct {
					Done struct {
						Items      []struct{ Outcome string }
						UserErrors []struct{ Message string }
					}
				}
				// One object is in the place of each list.
				s.Post(t, `mutation($input: `+input.Name+`!) { done: `+mutation.Name+`(input: $input) { items { outcome } userErrors { message } } }`,
					graphtest.Variables{"input": map[string]any{"items": item, "dryRun": dryRun}}).Read(t, &written)
				if len(written.Done.Items) > 0 {
					outcome = written.Done.Items[0].Outcome
				}
				return outcome, len(written.Done.UserErrors)
			}
			_, failed := send(full, false)
			require.Zero(t, failed, mutation.Name)
			for _, probe := range nullProbes(schema, schema.Types[items.Type.Name()], key, full, "") {
				outcome, failed := send(probe.absent, true)
				require.Equal(t, []any{"UNCHANGED", 0}, []any{outcome, failed}, "%s: %s is absent", mutation.Name, probe.path)
				outcome, failed = send(probe.null, true)
				require.Equal(t, slices.Contains(nullIsAbsent, probe.path), outcome == "UNCHANGED" && failed == 0, "%s: %s is null", mutation.Name, probe.path)
			}
		}
	})
}

// nullProbe is members of an item of which one is null, at a path, and the same without it.
type nullProbe struct {
	path         string
	null, absent map[string]any
}

// nullProbes returns a probe for each member that may be null, of those that a full object of a type must have. Of lists it has
// the element, and of objects within lists what is required.
func nullProbes(schema *ast.Schema, of *ast.Definition, key, full map[string]any, above string) (probes []nullProbe) {
	for _, member := range of.Fields {
		if _, isKey := key[member.Name]; isKey || member.Type.NonNull {
			continue
		}
		path := above + member.Name
		if probes = append(probes, nullProbe{path, map[string]any{member.Name: nil}, map[string]any{}}); slices.Contains(nullIsAbsent, path) {
			continue
		}
		value := full[member.Name]
		if list, isList := value.([]any); isList {
			value = list[0]
		}
		below, isObject := value.(map[string]any)
		definition := schema.Types[member.Type.Name()]
		if !isObject || definition.Kind != ast.InputObject {
			continue
		}
		required := map[string]any{}
		for _, inner := range definition.Fields {
			if inner.Type.NonNull {
				required[inner.Name] = below[inner.Name]
			}
		}
		for _, inner := range nullProbes(schema, definition, required, below, path+".") {
			for _, members := range []map[string]any{inner.null, inner.absent} {
				for name, value := range required {
					if value != nil {
						members[name] = value
					}
				}
			}
			probes = append(probes, nullProbe{inner.path, map[string]any{member.Name: inner.null}, map[string]any{member.Name: inner.absent}})
		}
	}
	return probes
}

// An absent member keeps its value. null clears a member, and is UNPROCESSABLE for those
// whose description says that they are not null.
func TestUpdatesClearMembersWithNull(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		schema := generated.NewExecutableSchema(generated.Config{}).Schema()
		for _, mutation := range schema.Mutation.Fields {
			if !strings.HasSuffix(mutation.Name, "Update") {
				continue
			}
			t.Run(mutation.Name, func(t *testing.T) {
				s := graphtest.Open(t, e, graphtest.Shop())
				u, known := updates[mutation.Name]
				require.True(t, known, "say how %s is made", mutation.Name)
				nullsOf(t, s, mutation.Name, u.key, u.values, u.read, schema.Types[mutation.Arguments.ForName("input").Type.Name()])
			})
		}
	})
}

func nullsOf(t *testing.T, s *graphtest.Service, mutation, key, values, read string, input *ast.Definition) {
	t.Helper()
	type payload struct {
		Update struct {
			UserErrors []struct {
				Field         []string
				Code, Message string
			}
		}
	}
	made := func(members string) (p payload) {
		operation := "mutation"
		if strings.Contains(members, "$absent") {
			operation = "mutation ($absent: String)"
		} else if strings.Contains(members, "$secret") {
			operation = "mutation ($secret: Secret)"
		}
		s.Post(t, fmt.Sprintf(`%s { update: %s(input: {%s}) { userErrors { field code message } } }`, operation, mutation, strings.Trim(key+", "+members, ", ")), graphtest.Variables{"secret": "p"}).Read(t, &p)
		return p
	}
	state := func() string {
		a := s.Post(t, `{ `+read+` }`, nil)
		require.Empty(t, a.Errors)
		return string(a.Data)
	}
	require.Empty(t, made(values).Update.UserErrors)
	before := state()
	require.Empty(t, made(``).Update.UserErrors)
	require.Equal(t, before, state(), "what is absent keeps its value")
	for _, member := range input.Fields {
		if member.Type.NonNull || member.Name == "idempotencyKey" || strings.HasPrefix(member.Name, "expected") {
			continue
		}
		notNull := strings.Contains(member.Description, "Not null")
		require.Empty(t, made(values).Update.UserErrors, "two members may clear one value")
		before := state()
		if member.Type.NamedType == "String" {
			require.Empty(t, made(member.Name+`: $absent`).Update.UserErrors)
			require.Equal(t, before, state(), "a variable without a value is absent")
		}
		p := made(member.Name + `: null`)
		if notNull {
			require.Len(t, p.Update.UserErrors, 1, member.Name)
			require.Equal(t, []any{"input." + member.Name, "UNPROCESSABLE"}, []any{strings.Join(p.Update.UserErrors[0].Field, "."), p.Update.UserErrors[0].Code})
			require.Contains(t, p.Update.UserErrors[0].Message, "must not be null")
			require.Equal(t, before, state())
			continue
		}
		require.Empty(t, p.Update.UserErrors, member.Name)
		require.NotEqual(t, before, state(), "%s is cleared", member.Name)
	}
}

// A null variable is null as the whole input and as one of its members.
func TestNullVariablesAreNull(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		for name, sent := range map[string]struct {
			query  string
			values graphtest.Variables
		}{
			"the input": {`mutation ($v: PromotionUpdateInput!) { promotionUpdate(input: $v) { promotion { maxApplicationsPerCart } } }`, graphtest.Variables{"v": map[string]any{"id": "ten-off", "maxApplicationsPerCart": nil}}},
			"a member":  {`mutation ($v: Int) { promotionUpdate(input: {id: "ten-off", maxApplicationsPerCart: $v}) { promotion { maxApplicationsPerCart } } }`, graphtest.Variables{"v": nil}},
		} {
			t.Run(name, func(t *testing.T) {
				s := graphtest.Open(t, e, graphtest.Shop())
				require.JSONEq(t, `{"promotionUpdate":{"promotion":{"maxApplicationsPerCart":null}}}`, string(s.Post(t, sent.query, sent.values).Data))
			})
		}
	})
}
