package transport_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	transportx "portico/graph/transport"
	"portico/store"
)

// An empty object in place of a scalar or enum is an error of the request, over every transport.
func TestEmptyObjectsAreRefusedOverEveryTransport(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(*transportx.StreamConfig) {})
	for _, query := range []string{
		`{ products(first: {}) { totalCount } }`,
		`{ node(id: {}) { id } }`,
		`{ nodes(ids: {}) { id } }`,
		`{ nodes(ids: [{}]) { id } }`,
		`query ($n: Int = {}) { products(first: $n) { totalCount } }`,
		`{ products(orderBy: {field: {}}) { totalCount } }`,
		`{ products(filter: {bounds: {updatedAt: {gt: {}}}}) { totalCount } }`,
		`{ settings { currency @include(if: {}) } }`,
		`mutation { settingsUpdate(input: {}) @skip(if: {}) { settings { currency } } }`,
		`subscription { stockChanged(productIds: {}) { available } }`,
	} {
		for _, transport := range transports {
			got := l.over(t, transport, map[string]any{"query": query})
			require.NotEmpty(t, got.Errors, "%s over %s", query, transport)
			for _, fault := range got.Errors {
				require.Equal(t, store.Invalid, fault.Extensions.Code, "%s over %s: %s", query, transport, fault.Message)
				require.Contains(t, fault.Message, "found an object.", "%s over %s", query, transport)
			}
		}
	}
}

// Null by a nullable variable is an error of the request where null is not allowed, whatever default stands there.
func TestNullVariablesAreRefusedWhereNullIsNot(t *testing.T) {
	t.Parallel()
	executors := []*streams{newStreams(t, func(*transportx.StreamConfig) {}), newStreams(t, func(*transportx.StreamConfig) {}, transportx.WithoutPlans())}
	for query, names := range map[string]string{
		`query ($v: Int) { jobs(first: $v) { id } }`:                                                                                      "first is an Int!",
		`query ($v: Int = 3) { jobs(first: $v) { id } }`:                                                                                  "first is an Int!",
		`query ($v: Int) { ...F } fragment F on Query { promotionCodeCheck(code: "x", units: $v) { remainingUses } }`:                     "units is an Int!",
		`query ($v: Boolean) { ... @include(if: true) { settings { currency @skip(if: $v) } } }`:                                          "",
		`query ($v: Boolean = true) { settings { currency ...F } } fragment F on Settings { pageLength @include(if: $v) }`:                "if is a Boolean!",
		`query ($v: Boolean!) { settings { currency @skip(if: $v) } }`:                                                                    "",
		`query ($v: Boolean = true) { settings { currency @skip(if: $v) } }`:                                                              "if is a Boolean!",
		`query ($v: OrderDirection) { products(orderBy: {field: NAME, direction: $v}) { totalCount } }`:                                   "orderBy.direction is an OrderDirection!",
		`query ($v: ID = "a") { nodes(ids: ["a", $v]) { id } }`:                                                                           "ids.1 is an ID!",
		`mutation ($v: Boolean) { catalogPublish(input: {catalogId: "catalog", serve: $v}) { job { id } } }`:                              "input.serve is a Boolean!",
		`mutation ($v: Int) { promotionCodeRedeem(input: {code: "x", reference: "y", units: $v, idempotencyKey: "z"}) { unitsApplied } }`: "input.units is an Int!",
	} {
		for _, l := range executors {
			got := l.over(t, "POST", map[string]any{"query": query, "variables": graphtest.Variables{"v": nil}})
			require.Equal(t, []store.Code{store.Invalid}, got.codes(), "%s: %v", query, got.Errors)
			require.Empty(t, got.Data, query)
			require.Empty(t, got.Errors[0].Path, query)
			if names != "" {
				require.Equal(t, "The variable $v must not be null: "+names+". Send a value, or leave the variable out for the default.", got.Errors[0].Message)
			}
		}
	}
}
