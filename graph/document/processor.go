package document

import (
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

// Config configures a Processor.
type Config struct {
	Schema   *ast.Schema
	Bounds   limits.Bounds
	Cache    *Cache               // nil for none
	Manifest *Manifest            // nil for none
	Count    func(outcome string) // of documents that are sent by hash or id, or compared with the manifest
	Log      *slog.Logger         // nil for none
}

// Processor parses, limits and validates documents, and finds persisted and trusted ones. It is safe
// for concurrent use.
type Processor struct {
	Config
	costs   *limits.CostEstimator
	reading chan struct{} // holds an element for each document that is being read
}

// NewProcessor returns a processor.
func NewProcessor(config Config) *Processor {
	if config.Cache == nil {
		config.Cache = NewCache(0)
	}
	if config.Count == nil {
		config.Count = func(string) {}
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Processor{config, limits.NewCostEstimator(config.Schema, config.Bounds), make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Operation is an operation that is ready to run.
type Operation struct {
	*CachedDocument
	Definition *ast.OperationDefinition // nil where the document has none of that name
	Allowance  limits.Allowance
	Cost       *limits.Cost // what it could cost; nil until that is known
	Outcome    string       // of naming the document; empty where that is not counted
}

// IsSubscription tells whether the operation is a subscription.
func (p *Operation) IsSubscription() bool {
	return p.Definition != nil && p.Definition.Operation == ast.Subscription
}

// Prepare makes the request ready to run, its document and its variables as
// the schema has them, or tells why it cannot run.
func (d *Processor) Prepare(params *graphql.RawParams) (*Operation, gqlerror.List) {
	outcome, hash, fault := d.resolve(params)
	d.CountOutcome(outcome)
	if fault != nil {
		return nil, errorList(fault)
	}
	cached := d.Cache.document(params.Query)
	if cached == nil {
		document, faults := d.parse(params.Query)
		if len(faults) > 0 {
			return nil, faults
		}
		if cached = d.Cache.addDocument(params.Query, document); outcome == OutcomeUntrusted {
			d.Log.Warn("a document is not in the manifest", "sha256", Hash(params.Query), "operation", document.Operations[0].Name)
		}
	}
	if hash != "" {
		d.Cache.addHash(cached, hash)
	}
	asked := &Operation{CachedDocument: cached, Definition: cached.Document.Operations.ForName(params.OperationName), Outcome: outcome}
	if asked.Definition == nil {
		return asked, nil // the executor says so
	}
	variables, faults := d.coerceVariables(asked.Definition, params.Variables)
	if len(faults) > 0 {
		return nil, faults
	}
	params.Variables = variables
	asked.Allowance, asked.Cost, fault = d.costs.Check(asked.Definition, variables)
	return asked, errorList(fault)
}

// CountOutcome counts what became of a request's document.
func (d *Processor) CountOutcome(outcome string) {
	if outcome != "" {
		d.Count(outcome)
	}
}

// parse parses, measures and validates a document. As many documents are read at
// once as there are processors: each takes one for some milliseconds, and more at
// a time would only delay all other requests.
func (d *Processor) parse(query string) (*ast.QueryDocument, gqlerror.List) {
	d.reading <- struct{}{}
	defer func() { <-d.reading }()
	if fault := limits.CheckText(query, d.Bounds); fault != nil {
		return nil, errorList(fault)
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.Bounds.Tokens)
	var malformed *gqlerror.Error
	switch {
	case errors.As(err, &malformed) && malformed.Locations == nil: // all but the bound on tokens tell where they are
		return nil, errorList(limits.TooManyTokens(d.Bounds))
	case malformed != nil:
		return nil, errorList(malformed)
	}
	if len(document.Operations) == 0 {
		return nil, gqlerror.List{{Message: `There is no operation provided: send it as the member "query", such as {"query": "{ settings { currency } }"}.`}}
	}
	if fault := limits.CheckDocument(document, d.Bounds); fault != nil {
		return nil, errorList(fault)
	}
	return document, d.validate(document)
}

// errorList is a list of one, or none.
func errorList(fault *gqlerror.Error) gqlerror.List {
	if fault == nil {
		return nil
	}
	return gqlerror.List{fault}
}

// errStopWalk ends a walk that cannot be ended otherwise.
type errStopWalk struct{}

// validate holds a document against the schema, and stops when it has found
// as many faults as are told.
func (d *Processor) validate(document *ast.QueryDocument) (faults gqlerror.List) {
	defer func() {
		if reason := recover(); reason != nil {
			if _, stopped := reason.(errStopWalk); !stopped {
				panic(reason)
			}
		}
	}()
	report := func(fault *gqlerror.Error) {
		faults = append(faults, fault)
		if len(faults) > limits.MaxErrors { // one more shows that there are more
			panic(errStopWalk{})
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
	core.Walk(d.Schema, document, observers)
	if len(faults) > 0 {
		return faults
	}
	for _, operation := range document.Operations {
		limits.CheckConflicts(d.Schema, operation, report)
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
