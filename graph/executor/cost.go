package executor

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/document"
	"portico/graph/opctx"
	"portico/store"
)

// costExtension is the extension of a request that asks for the cost, and of a response that has it.
const costExtension = "cost"

// wantsCost reports whether a request asks for the cost.
func wantsCost(params *graphql.RawParams) bool {
	wanted, _ := params.Extensions[costExtension].(bool)
	return wanted
}

// costExtensions returns the extensions with the cost of an operation; nil unless the request asks for
// it and it is known.
func costExtensions(op *document.Operation, params *graphql.RawParams) map[string]any {
	if op == nil || op.Cost == nil || !wantsCost(params) {
		return nil
	}
	return map[string]any{costExtension: *op.Cost}
}

// noPrices is the warning of a response to a shopper who requests a currency that the catalog has no prices in.
const noPrices = "The catalog has no prices in the currency of X-Moltin-Currency. The query currencies lists those that it has."

// hasNoPrices reports whether a response has the warning. No field of its operation may run any more.
func hasNoPrices(ctx context.Context) bool {
	view := opctx.From(ctx).CurrentView()
	return view != nil && view.Currency == store.NoCurrency
}

// addExtensions adds costExtensions and warnings to a response with data.
func addExtensions(ctx context.Context, op *document.Operation, params *graphql.RawParams, resp *graphql.Response) {
	extensions := costExtensions(op, params)
	if resp.Data != nil && hasNoPrices(ctx) {
		if extensions == nil {
			extensions = map[string]any{}
		}
		extensions["warnings"] = []map[string]string{{"message": noPrices}}
	}
	if extensions == nil {
		return
	}
	maps.Copy(extensions, resp.Extensions)
	resp.Extensions = extensions
}

// responseEnds returns PreparedOperation.ResponseEnd with the warning, and as it is.
func responseEnds(op *document.PreparedOperation) [2]string {
	members := `"warnings":[{"message":"` + noPrices + `"}]}` + responseEnd
	if op.ResponseEnd == responseEnd {
		return [2]string{`,"extensions":{` + members, responseEnd}
	}
	return [2]string{strings.TrimSuffix(op.ResponseEnd, "}"+responseEnd) + "," + members, op.ResponseEnd}
}

// appendEnd appends the part of a response after the data, if it has no errors.
func appendEnd(ctx context.Context, body []byte, op *document.PreparedOperation) []byte {
	if hasNoPrices(ctx) {
		return append(body, responseEnds(op)[0]...)
	}
	return append(body, op.ResponseEnd...)
}

// endWithCost returns PreparedOperation.ResponseEnd: with costExtensions as JSON, if there are any.
func endWithCost(op *document.Operation, params *graphql.RawParams) string {
	if costExtensions(op, params) == nil {
		return responseEnd
	}
	return `,"extensions":{"cost":{"requested":` + strconv.Itoa(op.Cost.Requested) + `,"limit":` + strconv.Itoa(op.Cost.Limit) + "}}" + responseEnd
}
