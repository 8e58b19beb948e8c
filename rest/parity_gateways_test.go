package rest_test

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store/gateway"
)

const gatewayMembers = `{ ...gateway }`

// wireGateway converts a gateway of GraphQL to REST's shape.
func wireGateway(g map[string]any) any {
	mask := ""
	if g["passwordSet"] == true {
		mask = gateway.SecretMask
	}
	return map[string]any{"type": "gateway", "slug": strings.ToLower(g["slug"].(string)), "name": g["name"], "enabled": g["enabled"],
		"test":        g["test"],
		"merchant_id": orEmpty(g["merchantId"]), "login": orEmpty(g["username"]), "password": mask, "signature": ""}
}

func drawGateways(d *dice) *parityCase {
	q := &parityCase{method: "GET", target: pick(d, "/v2/gateways", "/v2/gateways/"), document: `{ gateways ` + gatewayMembers + ` }`}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, mapList(data["gateways"], wireGateway), rest["data"])
	}
	return q
}

func drawGateway(d *dice) *parityCase {
	slug := pick(d, "card_processor", "manual") // the only values in GraphQL
	q := &parityCase{method: "GET", target: "/v2/gateways/" + slug,
		document:  `query($slug: GatewaySlug!) { gateway(slug: $slug) ` + gatewayMembers + ` }`,
		variables: map[string]any{"slug": strings.ToUpper(slug)}}
	if d.chance(20) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wireGateway(data["gateway"].(map[string]any)), rest["data"])
	}
	return q
}

// drawGatewayUpdate changes some members to valid or invalid values.
func drawGatewayUpdate(d *dice) *parityCase {
	slug := pick(d, "card_processor", "card_processor", "manual")
	q := &parityCase{method: "PUT", target: "/v2/gateways/" + slug}
	values := map[string][]any{"name": {"Cards", "", nil}, "enabled": {true, false, nil}, "test": {true, false}, "merchant_id": {"m", "", nil},
		"username": {"u", "", nil}, "password": {"p", "", nil, gateway.SecretMask}}
	mistyped := d.chance(10)
	if mistyped {
		values = map[string][]any{"enabled": {"yes", 1}, "password": {5, true, []any{}}, "name": {map[string]any{}}}
	}
	data, input := map[string]any{}, map[string]any{"slug": strings.ToUpper(slug)}
	for _, name := range []string{"name", "enabled", "test", "merchant_id", "username", "password"} {
		if list := values[name]; len(list) > 0 && d.chance(60) {
			data[name] = pick(d, list...)
			input[graphqlMember(name)] = data[name]
		}
	}
	if !mistyped && d.chance(15) {
		q.client = d.rejectedClient()
	}
	text, _ := json.Marshal(map[string]any{"data": data}) // plain values
	q.body, q.variables = string(text), map[string]any{"input": input}
	q.document = `mutation($input: GatewayUpdateInput!) { gatewayUpdate(input: $input) { gateway ` + gatewayMembers +
		` userErrors { field code message } } }`
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wireGateway(data["gatewayUpdate"].(map[string]any)["gateway"].(map[string]any)), rest["data"])
	}
	return q
}
