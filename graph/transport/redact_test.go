package transport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/storetest"
)

// Errors name members of the schema, and never a name that was sent in their place: it may be a
// password.
func TestGatewayErrorsAreRedacted(t *testing.T) {
	t.Parallel()
	s := graphtest.Serve(nil)
	const input = `mutation ($input: GatewayUpdateInput!) { gatewayUpdate(input: $input) { userErrors { message } } }`
	for name, c := range map[string]struct {
		query  string // each % is the secret
		values graphtest.Variables
		shows  []string
	}{
		"an enum value":           {`query { gateway(slug: %) { name } }`, nil, []string{`slug: Value "…" does not exist in "GatewaySlug!" enum.`}},
		"a mistyped enum value":   {`query { gateway(slug: CARD_PROCESOR) { name } }`, nil, []string{`"GatewaySlug!"`, `"CARD_PROCESSOR"`}},
		"a text for an enum":      {`query { gateway(slug: "%") { name } }`, nil, []string{`Enum "GatewaySlug!" cannot represent non-enum value`}},
		"a field":                 {`query { gateways { % } }`, nil, []string{`Cannot query field "…" on type "Gateway".`}},
		"a mistyped field":        {`query { gateways { passwordSett } }`, nil, []string{`Cannot query field`, `on type "Gateway"`, `Did you mean "passwordSet"?`}},
		"a root field":            {`query { % gateways { name } }`, nil, []string{`Cannot query field "…" on type "Query".`}},
		"an argument":             {`query { gateway(slug: MANUAL, %: 1) { name } }`, nil, []string{`Unknown argument "…" on field "Query.gateway".`}},
		"a mistyped argument":     {`query { gateway(slugg: MANUAL) { name } }`, nil, []string{`on field "Query.gateway"`, `Did you mean "slug"?`}},
		"a directive":             {`query { gateways { name @% } }`, nil, []string{`Unknown directive "@…".`}},
		"a directive's argument":  {`query { gateways { name @skip(if: true, %: 1) } }`, nil, []string{`Unknown argument "…" on directive "@skip".`}},
		"a directive without one": {`query { gateways { name @include } }`, nil, []string{`Directive "@include" argument "if" of type "Boolean!" is required`}},
		"a fragment":              {`query { gateways { ...% } }`, nil, []string{`Unknown fragment "…".`}},
		"a fragment's type":       {`query { gateways { ... on % { name } } }`, nil, []string{`Unknown type "…".`}},
		"an unused fragment":      {`query { gateways { name } } fragment % on Gateway { name }`, nil, []string{`Fragment "…" is never used.`}},
		"a variable":              {`query { gateway(slug: $%) { name } }`, nil, []string{`is not defined`}},
		"a variable's type":       {`query ($slug: %) { gateway(slug: $slug) { name } }`, nil, []string{`Unknown type "…".`}},
		"a variable's value":      {`query ($slug: GatewaySlug!) { gateway(slug: $slug) { name } }`, graphtest.Variables{"slug": "%"}, []string{"The variable $slug must be a GatewaySlug: CARD_PROCESSOR, MANUAL."}},
		"a literal member":        {`mutation { gatewayUpdate(input: {slug: MANUAL, %: 1}) { userErrors { message } } }`, nil, []string{`is not defined by type "GatewayUpdateInput"`}},
		"a literal of another":    {`mutation { gatewayUpdate(input: {slug: MANUAL, enabled: "%"}) { userErrors { message } } }`, nil, []string{`input.enabled: Boolean cannot represent a non boolean value`}},
		"a word of messages":      {`query field { gateways { type query } }`, nil, []string{`Cannot query field "…" on type "Gateway".`}},
		"a member of the input":   {input, graphtest.Variables{"input": map[string]any{"slug": "MANUAL", "%": 1}}, []string{"$input.…", "not a member of GatewayUpdateInput"}},
		"a value of the input":    {input, graphtest.Variables{"input": map[string]any{"slug": "MANUAL", "enabled": "%"}}, []string{"$input.enabled must be a Boolean, got a string"}},
		"a slug of the input":     {input, graphtest.Variables{"input": map[string]any{"slug": "%"}}, []string{"$input.slug must be a GatewaySlug"}},
		"a secret that is none":   {input, graphtest.Variables{"input": map[string]any{"slug": "MANUAL", "password": []any{"%"}}}, []string{"$input.password must be a Secret, got a list"}},
		"syntax":                  {`query { gateways { name "%" } }`, nil, nil},
		"an unfinished text":      {`mutation { gatewayUpdate(input: {password: "%`, nil, nil},
	} {
		for _, secret := range []string{"hunter2", "Xq", "correct_horse_battery_staple"} {
			t.Run(name+" "+secret, func(t *testing.T) {
				values := graphtest.Variables{}
				for key, value := range c.values {
					values[key] = planted(value, secret)
				}
				a := s.Send(t, graphtest.As(graphtest.NewPost(t, strings.ReplaceAll(c.query, "%", secret), values), graphtest.Admin()))
				require.NotEmpty(t, a.Errors, "%s", a.Body)
				require.NotContains(t, a.Body.String(), secret)
				for _, shown := range c.shows {
					require.Contains(t, fmt.Sprint(a.Errors), shown)
				}
			})
		}
	}
}

// planted returns a value with the secret in place of each %.
func planted(value any, secret string) any {
	switch value := value.(type) {
	case string:
		return strings.ReplaceAll(value, "%", secret)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = planted(value[i], secret)
		}
		return list
	case map[string]any:
		members := map[string]any{}
		for name := range value {
			members[strings.ReplaceAll(name, "%", secret)] = planted(value[name], secret)
		}
		return members
	}
	return value
}

// Errors of a request that names gateways keep what is no secret: response names, names of variables, arguments, and bounds.
func TestGatewayErrorsKeepWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		for query, shows := range map[string][]string{
			`{ gateways { name } mine: products(first: 101) { totalCount } }`:                                                                                                     {`"path":["mine"]`, "between 1 and 100, got 101"},
			`{ gateways { name } mine: product(by: {id: "anvil"}) { theirs: childrenConnection(first: 777) { totalCount } } }`:                                                    {`"path":["mine","theirs"]`, "between 1 and 100, got 777"},
			`{ gateways { name } mine: products(first: 2, after: "somewhere") { totalCount } }`:                                                                                   {`"path":["mine"]`, `"argument":["after"]`},
			`query ($mine: Int) { gateways { name } jobs(first: $mine) { id } }`:                                                                                                  {"The variable $mine must not be null: first is an Int!", `"argument":["mine"]`},
			`query ($mine: Int = 3) { gateways { name } nodes(ids: ["anvil", $mine]) { id } }`:                                                                                    {`Variable \"$mine\"`, `\"Int\"`},
			`query ($mine: [ID!] = ["a"]) { gateways { name } nodes(ids: $mine) { id } jobs(first: 777) { mine: nothing } }`:                                                      {`Cannot query field`},
			`{ gateways { name } mine: product(by: {id: "anvil"}) { name } mine: product(by: {id: "brush"}) { name } }`:                                                           {"mine"},
			`{ gateways { name } nodes(ids: ["1", {}]) { id } }`:                                                                                                                  {`"argument":["ids","1"]`, "ids.1: "},
			`query ($v: ProductFilter) { gateways { name } products(filter: {and: [{and: [{sku: {in: ["1", 1]}}]}]}) { totalCount } other: products(filter: $v) { totalCount } }`: {"filter.and.0.and.0.sku.in.1: "},
		} {
			a := s.Post(t, query, graphtest.Variables{"mine": nil})
			require.NotEmpty(t, a.Errors, query)
			for _, shown := range shows {
				require.Contains(t, a.Body.String(), shown, query)
			}
		}
	})
}
