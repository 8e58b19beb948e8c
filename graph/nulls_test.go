package graph_test

import (
	"fmt"
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
	"promotionUpdate": {`id: "ten-off"`, `minCartValue: [{currency: "USD", amount: "5"}], maxApplicationsPerCart: 2, promotionType: PERCENT_DISCOUNT, schema: {percent: 5}, maxDiscountValue: [{currency: "USD", amount: "5"}], targetCatalogs: ["main"], conditions: {and: []}, currencies: [{currency: "USD", percentage: 5}]`,
		`promotion(id: "ten-off") { name description promotionType enabled automatic start end minCartValue { amount } maxDiscountValue { amount } maxApplicationsPerCart schema currencies { currency } targetCatalogs conditions }`},
	"gatewayUpdate":        {`slug: CARD_PROCESSOR`, `name: "Mine", enabled: true, test: true, merchantId: "m", username: "u", password: "p"`, `gateway(slug: CARD_PROCESSOR) { name enabled test merchantId login passwordSet }`},
	"settingsUpdate":       {``, `pageLength: 7, currency: "EUR", locale: "fr"`, `settings { pageLength currency locale }`},
	"catalogUpdate":        {`id: "main"`, `locale: "fr", currency: "EUR"`, `catalog(id: "main") { name hierarchyIds pricebooks { uuid } locale currency }`},
	"catalogRuleUpdate":    {`id: "everyone"`, `accountIds: ["a"], accountTagIds: ["a"], customerIds: ["a"], channels: ["a"], tags: ["a"], schedules: [{validFrom: "2024-01-01T00:00:00Z"}]`, `catalogRule(id: "everyone") { name catalogId accountIds accountTagIds customerIds channels tags schedules { validFrom } }`},
	"catalogReleaseUpdate": {`releaseId: "1"`, `label: "a", note: "b", retained: true`, `catalogRelease(id: "1") { label note retained }`},
	"hierarchyUpdate":      {`id: "workshop"`, `slug: "a", description: "b"`, `authoredHierarchy(id: "workshop") { name slug description }`},
	"nodeUpdate":           {`id: "tools"`, `slug: "a", description: "b"`, `authoredNode(id: "tools") { name slug description }`},
}

// An absent member keeps its value. null clears an optional member and is UNPROCESSABLE for a
// required one. The description of each member says which.
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
		}
		s.Post(t, fmt.Sprintf(`%s { update: %s(input: {%s}) { userErrors { field code message } } }`, operation, mutation, strings.Trim(key+", "+members, ", ")), nil).Read(t, &p)
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
		if member.Type.NonNull || member.Name == "idempotencyKey" {
			continue
		}
		required := strings.Contains(member.Description, "Required")
		require.NotEqual(t, required, strings.Contains(member.Description, "Optional"), "the description of %s says whether it is required", member.Name)
		require.Empty(t, made(values).Update.UserErrors, "two members may clear one value")
		before := state()
		if member.Type.NamedType == "String" {
			require.Empty(t, made(member.Name+`: $absent`).Update.UserErrors)
			require.Equal(t, before, state(), "a variable without a value is absent")
		}
		p := made(member.Name + `: null`)
		if strings.Contains(member.Description, "by the types that need it") { // percent_discount needs none
			required = false
		}
		if required {
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
		storetest.FullTestsOnlyOnPostgres(t, e)
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
