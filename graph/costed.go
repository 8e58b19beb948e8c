package graph

import (
	"maps"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

// costExtension is the member of a request's extensions that asks what its
// operation costs, and the member of the answer's that tells it.
const costExtension = "cost"

// costAsked tells whether a request asks for what it costs.
func costAsked(params *graphql.RawParams) bool {
	asked, _ := params.Extensions[costExtension].(bool)
	return asked
}

// costed is what an operation costs, for an answer's extensions; nil unless it was
// asked for and is known.
func (p *prepared) costed(params *graphql.RawParams) map[string]any {
	if p == nil || p.cost == nil || !costAsked(params) {
		return nil
	}
	return map[string]any{costExtension: *p.cost}
}

// tellCost adds it to the extensions that an answer has.
func (p *prepared) tellCost(params *graphql.RawParams, response *graphql.Response) {
	told := p.costed(params)
	if told == nil {
		return
	}
	maps.Copy(told, response.Extensions)
	response.Extensions = told
}

// answerEnd is what stands behind the data of an answer without errors.
func (p *prepared) answerEnd(params *graphql.RawParams) string {
	if p.costed(params) == nil {
		return answerEnds
	}
	return `,"extensions":{"cost":{"requested":` + strconv.Itoa(p.cost.Requested) + `,"limit":` + strconv.Itoa(p.cost.Limit) + "}}" + answerEnds
}
