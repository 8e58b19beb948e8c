package graph_test

import (
	"testing"

	"portico/graph/graphtest"
)

func TestGateways(t *testing.T) {
	t.Parallel()
	const update = `mutation ($input: GatewayUpdateInput!) { gatewayUpdate(input: $input) { gateway { slug name enabled test configured merchantId username passwordSet changedBy } userErrors { field code message } } }`
	runOnTestShop(t, []scenario{
		{name: "as imported, without secrets", query: `{ gateways { slug name enabled test configured merchantId username passwordSet passwordFingerprint changedAt changedBy } }`,
			data: `{"gateways":[{"slug":"CARD_PROCESSOR","name":"Cards","enabled":true,"test":true,"configured":false,"merchantId":"m-1","username":"shop","passwordSet":false,"passwordFingerprint":null,"changedAt":null,"changedBy":null},
			{"slug":"MANUAL","name":"Manual","enabled":false,"test":false,"configured":false,"merchantId":null,"username":null,"passwordSet":false,"passwordFingerprint":null,"changedAt":null,"changedBy":null}]}`},
		{name: "an unknown one", query: `{ gateway(slug: STRIPE) { name } }`, codes: invalid},
		{name: "missing members are named", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "CARD_PROCESSOR", "enabled": true}},
			data: `{"gatewayUpdate":{"gateway":null,"userErrors":[{"field":["input","password"],"code":"UNPROCESSABLE","message":"password is required to configure or enable the gateway."}]}}`},
		{name: "empty members are named", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "CARD_PROCESSOR", "merchantId": "", "password": "xyzzy"}},
			data: `{"gatewayUpdate":{"gateway":null,"userErrors":[{"field":["input","merchantId"],"code":"UNPROCESSABLE","message":"merchantId must not be empty; omit it to keep the old value."}]}}`},
		{name: "an unknown slug", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "STRIPE"}}, codes: invalid, argument: "input.slug"},
		{name: "REST's spelling of a slug", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "card_processor"}}, codes: invalid, argument: "input.slug"},
		{name: "a password, given once and not shown", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "CARD_PROCESSOR", "password": "xyzzy", "test": false}},
			data:  `{"gatewayUpdate":{"gateway":{"slug":"CARD_PROCESSOR","name":"Cards","enabled":true,"test":false,"configured":true,"merchantId":"m-1","username":"shop","passwordSet":true,"changedBy":"client:tester"},"userErrors":[]}}`,
			lacks: []string{"xyzzy"}},
		{name: "and read back", query: `{ gateway(slug: CARD_PROCESSOR) { passwordSet changedAt } }`, data: `{"gateway":{"passwordSet":true,"changedAt":"2024-05-30T12:00:00.000Z"}}`, lacks: []string{"xyzzy"}},
		{name: "the mask keeps the password", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "CARD_PROCESSOR", "password": "********", "name": ""}},
			data: `{"gatewayUpdate":{"gateway":{"slug":"CARD_PROCESSOR","name":"Cards","enabled":true,"test":false,"configured":true,"merchantId":"m-1","username":"shop","passwordSet":true,"changedBy":"client:tester"},"userErrors":[]}}`},
		{name: "an invalid password is not repeated", query: update, variables: graphtest.Variables{"input": map[string]any{"slug": "CARD_PROCESSOR", "password": map[string]any{"xyzzy": "xyzzy"}}},
			codes: invalid, lacks: []string{"xyzzy"}},
	})
}
