package transport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	transportx "portico/graph/transport"
	"portico/store/storetest"
)

// Errors of requests that hold a secret name the type and the place, and no value: by each transport, wherever the secret stands.
// Names that were sent are shown, as those of other requests.
func TestErrorsHaveNoValues(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(*transportx.StreamConfig) {})
	const input = `mutation ($input: GatewayUpdateInput!) { gatewayUpdate(input: $input) { userErrors { message } } }`
	const wrong = `The value is secret: send it by a variable.`
	of := func(password any) graphtest.Variables {
		return graphtest.Variables{"input": map[string]any{"slug": "MANUAL", "password": password}}
	}
	for name, c := range map[string]struct {
		query  string // each % is the secret
		values graphtest.Variables
		shows  string
	}{
		"a field":                  {`query { gateways { login } }`, nil, `Cannot query field "login" on type "Gateway".`},
		"an enum value":            {`query { gateway(slug: hunter2) { name } }`, nil, `slug: Expected value of type "GatewaySlug!", found a name. Send one of these, without quotes: CARD_PROCESSOR, MANUAL.`},
		"a text for an enum":       {`query { gateway(slug: "%") { name } }`, nil, `slug: Expected value of type "GatewaySlug!", found a string.`},
		"a variable's enum value":  {`query ($slug: GatewaySlug!) { gateway(slug: $slug) { name } }`, graphtest.Variables{"slug": "%"}, "The variable $slug must be a GatewaySlug: CARD_PROCESSOR, MANUAL."},
		"a literal of another":     {`mutation { gatewayUpdate(input: {slug: MANUAL, enabled: "%"}) { userErrors { message } } }`, nil, `input.enabled: Expected value of type "Boolean", found a string.`},
		"a value of an unknown":    {`mutation { gatewayUpdate(input: {slug: MANUAL, pasword: "%"}) { userErrors { message } } }`, nil, `Field "pasword" is not defined by type "GatewayUpdateInput". Did you mean "password"?`},
		"a value of no argument":   {`mutation { gatewayUpdate(password: "%") { userErrors { message } } }`, nil, `Unknown argument "password" on field "Mutation.gatewayUpdate".`},
		"an input":                 {`mutation { gatewayUpdate(input: "%") { userErrors { message } } }`, nil, `input: Expected value of type "GatewayUpdateInput!", found a string.`},
		"a literal":                {`mutation { gatewayUpdate(input: {slug: MANUAL, password: "%"}) { userErrors { message } } }`, nil, "input.password: " + wrong},
		"a block string":           {`mutation { gatewayUpdate(input: {slug: MANUAL, password: """%"""}) { userErrors { message } } }`, nil, "input.password: " + wrong},
		"a name":                   {`mutation { gatewayUpdate(input: {slug: MANUAL, password: hunter2}) { userErrors { message } } }`, nil, "input.password: " + wrong},
		"a list":                   {`mutation { gatewayUpdate(input: {slug: MANUAL, password: ["%"]}) { userErrors { message } } }`, nil, "input.password: " + wrong},
		"an object":                {`mutation { gatewayUpdate(input: {slug: MANUAL, password: {a: "%"}}) { userErrors { message } } }`, nil, "input.password: " + wrong},
		"a default":                {`mutation ($p: Secret = "%") { gatewayUpdate(input: {slug: MANUAL, password: $p}) { userErrors { message } } }`, nil, "p: " + wrong},
		"a default of an input":    {`mutation ($input: GatewayUpdateInput! = {slug: MANUAL, password: "%"}) { gatewayUpdate(input: $input) { userErrors { message } } }`, nil, "input.password: " + wrong},
		"a default of another":     {`mutation ($p: Boolean = "%") { gatewayUpdate(input: {slug: MANUAL, enabled: $p}) { userErrors { message } } }`, nil, `p: Expected value of type "Boolean", found a string.`},
		"a list of a variable":     {input, of([]any{"%"}), "The variable $input.password must be a Secret, got a list."},
		"an object of a variable":  {input, of(map[string]any{"a": "%"}), "The variable $input.password must be a Secret, got an object."},
		"a value of the input":     {input, graphtest.Variables{"input": map[string]any{"slug": "MANUAL", "enabled": "%"}}, "The variable $input.enabled must be a Boolean, got a string."},
		"an unknown member's":      {input, graphtest.Variables{"input": map[string]any{"slug": "MANUAL", "pasword": "%"}}, "The variable $input.pasword is not a member of GatewayUpdateInput, which has slug, name,"},
		"the whole input":          {input, graphtest.Variables{"input": "%"}, "The variable $input must be a GatewayUpdateInput, got a string."},
		"a string out of place":    {`query { gateways { name "%" } }`, nil, "Expected Name, found String"},
		"a string after a name":    {`query "%" { gateways { name } }`, nil, "Expected {, found String"},
		"a string of an operation": {`"%"`, nil, "Unexpected <EOF>"},
		"an unfinished text":       {`mutation { gatewayUpdate(input: {password: "%`, nil, "Unterminated string."},
		"an escape":                {`mutation { gatewayUpdate(input: {password: "\q%"}) { userErrors { message } } }`, nil, "Invalid character escape sequence."},
		"a long escape":            {`mutation { gatewayUpdate(input: {password: "\uhunter2"}) { userErrors { message } } }`, nil, "Invalid character escape sequence."},
		"a number":                 {`mutation { gatewayUpdate(input: {password: 00hunter2}) { userErrors { message } } }`, nil, "Invalid number, unexpected digit after 0."},
		"a name out of place":      {`fragment f hunter2 Gateway { name }`, nil, `Expected "on", found Name.`},
	} {
		for _, secret := range []string{"hunter2", "Xq0", "correct horse battery staple"} {
			for _, transport := range transports {
				values, _ := planted(map[string]any(c.values), secret).(map[string]any)
				got := l.over(t, transport, map[string]any{"query": strings.ReplaceAll(c.query, "%", secret), "variables": values})
				require.NotEmpty(t, got.Errors, name)
				answer := fmt.Sprintf("%+v", got)
				require.NotContains(t, answer, secret, "%s over %s", name, transport)
				require.NotContains(t, answer, "hunter", "%s over %s", name, transport)
				require.Contains(t, answer, c.shows, "%s over %s", name, transport)
			}
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

// Errors of a request that names gateways have response names, names of variables, arguments, and bounds.
func TestGatewayErrorsNameWhatIsWrong(t *testing.T) {
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
