package executor

import (
	"maps"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/document"
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

// addCost adds costExtensions to a response.
func addCost(op *document.Operation, params *graphql.RawParams, resp *graphql.Response) {
	extensions := costExtensions(op, params)
	if extensions == nil {
		return
	}
	maps.Copy(extensions, resp.Extensions)
	resp.Extensions = extensions
}

// endWithCost returns the part of a response after the data, if it has no errors: with costExtensions as JSON, if there are any.
func endWithCost(op *document.Operation, params *graphql.RawParams) string {
	if costExtensions(op, params) == nil {
		return responseEnd
	}
	return `,"extensions":{"cost":{"requested":` + strconv.Itoa(op.Cost.Requested) + `,"limit":` + strconv.Itoa(op.Cost.Limit) + "}}" + responseEnd
}
