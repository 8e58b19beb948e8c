package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph/plan"
)

// planned runs queries by plans, and leaves everything else to gqlgen's
// executor. What is told and counted of fields and errors is the same in both.
type planned struct {
	runner  *plan.Runner
	schema  *ast.Schema
	around  graphql.RootFieldMiddleware
	present graphql.ErrorPresenterFunc
	recover graphql.RecoverFunc
	count   func(executor string)
}

// The executors, as metrics name them.
const (
	byPlan   = "plan"
	byGqlgen = "gqlgen"
)

// buffers are for answers while they are written.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// maxBuffer is what an answer may have grown to for its buffer to be kept.
const maxBuffer = 1 << 20

const (
	answerBegins = `{"data":`
	answerEnds   = "}\n"
)

// answer runs an operation by its plan and has its answer written; false,
// without anything written, for what is left to gqlgen's executor.
func (p *planned) answer(ctx context.Context, asked *prepared, params *graphql.RawParams, write func(answer []byte, response *graphql.Response)) bool {
	if p == nil || asked.operation == nil || asked.operation.Operation != ast.Query || ctx.Err() != nil {
		return false
	}
	variables := map[string]any{}
	if len(asked.operation.VariableDefinitions) > 0 {
		var err error
		if variables, err = validator.VariableValues(p.schema, asked.operation, params.Variables); err != nil {
			return false // that executor says so
		}
	}
	plan := p.runner.Plan(&asked.plans, asked.document, asked.operation, variables)
	if plan == nil {
		p.count(byGqlgen)
		return false
	}
	ctx = graphql.WithOperationContext(ctx, &graphql.OperationContext{
		RawQuery: params.Query, OperationName: params.OperationName, Variables: variables, Headers: params.Headers,
		Doc: asked.document, Operation: asked.operation,
		RecoverFunc: p.recover, ResolverMiddleware: untouched, RootResolverMiddleware: p.around,
	})
	ctx = graphql.WithResponseContext(ctx, p.present, p.recover)
	buffer := buffers.Get().(*[]byte)
	body, err := p.runner.Run(ctx, plan, append((*buffer)[:0], answerBegins...))
	if cap(body) <= maxBuffer {
		defer func() { *buffer = body; buffers.Put(buffer) }()
	}
	if err != nil { // of a panic, which that executor makes the error of its field
		p.count(byGqlgen)
		if op, ok := ctx.Value(operationKey{}).(*operation); ok && op.budget != nil {
			op.budget.spent.Store(0)
		}
		return false
	}
	p.count(byPlan)
	response := &graphql.Response{Data: body[len(answerBegins):], Errors: graphql.GetErrors(ctx)}
	body = append(body, answerEnds...)
	response.Data = response.Data[: len(body)-len(answerBegins)-len(answerEnds) : len(body)-len(answerBegins)-len(answerEnds)]
	write(body, response)
	return true
}

func untouched(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }
