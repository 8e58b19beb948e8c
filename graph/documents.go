package graph

import (
	"context"
	"errors"
	"log/slog"
	"runtime"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"portico/graph/limits"
)

// documents makes an operation's document ready before an executor sees it:
// a cached one is looked up, another is parsed once, measured, validated and
// cached.
type documents struct {
	bounds  limits.Bounds
	schema  *ast.Schema
	pricing *limits.CostEstimator
	cache   *documentCache
	trust   *Manifest            // nil for none
	reading chan struct{}        // holds a place for each document that is read at once
	count   func(outcome string) // of what is named, or held against the manifest
	log     *slog.Logger
}

func newDocuments(schema *ast.Schema, bounds limits.Bounds) *documents {
	return &documents{bounds: bounds, schema: schema, pricing: limits.NewCostEstimator(schema, bounds), cache: newDocumentCache(0), reading: make(chan struct{}, runtime.GOMAXPROCS(0)),
		count: func(string) {}, log: slog.New(slog.DiscardHandler)}
}

// prepared is an operation that is ready to run.
type prepared struct {
	*cachedDocument
	operation *ast.OperationDefinition // nil where the document has none of that name
	allowed   limits.Allowance
	cost      *limits.Cost // what it could cost; nil until that is known
	outcome   string       // of naming the document; empty where that is not counted
}

// streams tells whether the operation is a subscription.
func (p *prepared) streams() bool {
	return p.operation != nil && p.operation.Operation == ast.Subscription
}

// prepare makes the request ready to run, its document and its variables as
// the schema has them, or tells why it cannot run.
func (d *documents) prepare(params *graphql.RawParams) (*prepared, gqlerror.List) {
	outcome, hash, fault := d.name(params)
	d.counted(outcome)
	if fault != nil {
		return nil, listed(fault)
	}
	cached := d.cache.document(params.Query)
	if cached == nil {
		document, faults := d.read(params.Query)
		if len(faults) > 0 {
			return nil, faults
		}
		if cached = d.cache.addDocument(params.Query, document); outcome == documentUnknown {
			d.log.Warn("a document is not in the manifest", "sha256", hashOf(params.Query), "operation", document.Operations[0].Name)
		}
	}
	if hash != "" {
		d.cache.name(cached, hash)
	}
	asked := &prepared{cachedDocument: cached, operation: cached.document.Operations.ForName(params.OperationName), outcome: outcome}
	if asked.operation == nil {
		return asked, nil // the executor says so
	}
	variables, faults := d.variables(asked.operation, params.Variables)
	if len(faults) > 0 {
		return nil, faults
	}
	params.Variables = variables
	asked.allowed, asked.cost, fault = d.pricing.Check(asked.operation, variables)
	return asked, listed(fault)
}

// counted counts what became of a request's document.
func (d *documents) counted(outcome string) {
	if outcome != "" {
		d.count(outcome)
	}
}

// read parses, measures and validates a document. As many documents are read at
// once as there are processors: each takes one for some milliseconds, and more at
// a time would only delay all other requests.
func (d *documents) read(query string) (*ast.QueryDocument, gqlerror.List) {
	d.reading <- struct{}{}
	defer func() { <-d.reading }()
	if fault := limits.CheckText(query, d.bounds); fault != nil {
		return nil, listed(fault)
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.bounds.Tokens)
	var malformed *gqlerror.Error
	switch {
	case errors.As(err, &malformed) && malformed.Locations == nil: // all but the bound on tokens tell where they are
		return nil, listed(limits.TooManyTokens(d.bounds))
	case malformed != nil:
		return nil, listed(malformed)
	}
	if len(document.Operations) == 0 {
		return nil, gqlerror.List{{Message: `There is no operation provided: send it as the member "query", such as {"query": "{ settings { currency } }"}.`}}
	}
	if fault := limits.CheckDocument(document, d.bounds); fault != nil {
		return nil, listed(fault)
	}
	return document, d.validate(document)
}

// listed is a list of one, or none.
func listed(fault *gqlerror.Error) gqlerror.List {
	if fault == nil {
		return nil
	}
	return gqlerror.List{fault}
}

// errStopped ends a walk that cannot be ended otherwise.
type errStopped struct{}

// validate holds a document against the schema, and stops when it has found
// as many faults as are told.
func (d *documents) validate(document *ast.QueryDocument) (faults gqlerror.List) {
	defer func() {
		if reason := recover(); reason != nil {
			if _, stopped := reason.(errStopped); !stopped {
				panic(reason)
			}
		}
	}()
	report := func(fault *gqlerror.Error) {
		faults = append(faults, fault)
		if len(faults) > limits.MaxErrors { // one more shows that there are more
			panic(errStopped{})
		}
	}
	observers := &core.Events{}
	for _, rule := range validationRules() {
		rule.RuleFunc(observers, func(options ...core.ErrorOption) {
			fault := &gqlerror.Error{Rule: rule.Name}
			for _, option := range options {
				option(fault)
			}
			report(fault)
		})
	}
	defer func() { nameArguments(document, faults) }()
	core.Walk(d.schema, document, observers)
	if len(faults) > 0 {
		return faults
	}
	for _, operation := range document.Operations {
		limits.CheckConflicts(d.schema, operation, report)
	}
	return faults
}

// validationRules are the specification's, in a settled order, but for the one
// on fields that cannot be merged: that is conflicts.
func validationRules() []core.Rule {
	return []core.Rule{
		rules.FieldsOnCorrectTypeRule,
		rules.FragmentsOnCompositeTypesRule,
		rules.KnownArgumentNamesRule,
		rules.KnownDirectivesRule,
		rules.KnownFragmentNamesRule,
		rules.KnownRootTypeRule,
		rules.KnownTypeNamesRule,
		rules.LoneAnonymousOperationRule,
		rules.MaxIntrospectionDepth,
		rules.NoFragmentCyclesRule,
		rules.NoUndefinedVariablesRule,
		rules.NoUnusedFragmentsRule,
		rules.NoUnusedVariablesRule,
		rules.PossibleFragmentSpreadsRule,
		rules.ProvidedRequiredArgumentsRule,
		rules.ScalarLeafsRule,
		rules.SingleFieldSubscriptionsRule,
		rules.UniqueArgumentNamesRule,
		rules.UniqueDirectivesPerLocationRule,
		rules.UniqueFragmentNamesRule,
		rules.UniqueInputFieldNamesRule,
		rules.UniqueOperationNamesRule,
		rules.UniqueVariableNamesRule,
		rules.ValuesOfCorrectTypeRule,
		rules.VariablesAreInputTypesRule,
		rules.VariablesInAllowedPositionRule,
	}
}

// checkedDocuments hands gqlgen's executor the document that was prepared for
// the operation. It implements graphql.Cache.
type checkedDocuments struct{}

type checkedKey struct{}

// withChecked is the context of an operation whose document was prepared.
func withChecked(ctx context.Context, asked *prepared) context.Context {
	return context.WithValue(ctx, checkedKey{}, asked)
}

// Get implements graphql.Cache.
func (checkedDocuments) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	asked, ok := ctx.Value(checkedKey{}).(*prepared)
	if !ok {
		return nil, false
	}
	return asked.document, true
}

// Add implements graphql.Cache.
func (checkedDocuments) Add(context.Context, string, *ast.QueryDocument) {}
