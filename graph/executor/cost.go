package executor

import (
	"maps"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/document"
)

// costExtension is the member of a request's extensions that asks what its
// operation costs, and the member of the answer's that tells it.
const costExtension = "cost"

// wantsCost tells whether a request asks for what it costs.
func wantsCost(params *graphql.RawParams) bool {
	asked, _ := params.Extensions[costExtension].(bool)
	return asked
}

// costed is what an operation costs, for an answer's extensions; nil unless it was
// asked for and is known.
func CostExtensions(p *document.Operation, params *graphql.RawParams) map[string]any {
	if p == nil || p.Cost == nil || !wantsCost(params) {
		return nil
	}
	return map[string]any{costExtension: *p.Cost}
}

// tellCost adds it to the extensions that an answer has.
func AddCost(p *document.Operation, params *graphql.RawParams, response *graphql.Response) {
	told := CostExtensions(p, params)
	if told == nil {
		return
	}
	maps.Copy(told, response.Extensions)
	response.Extensions = told
}

// answerEnd is what stands behind the data of an answer without errors.
func responseEnd(p *document.Operation, params *graphql.RawParams) string {
	if CostExtensions(p, params) == nil {
		return answerEnds
	}
	return `,"extensions":{"cost":{"requested":` + strconv.Itoa(p.Cost.Requested) + `,"limit":` + strconv.Itoa(p.Cost.Limit) + "}}" + answerEnds
}
