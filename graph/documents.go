package graph

import (
	"container/list"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"portico/graph/plan"
)

// documents makes an operation's document ready before the executor sees it:
// a known one is looked up, another is parsed once, measured, validated and
// kept where the executor finds it.
type documents struct {
	bounds  Bounds
	schema  *ast.Schema
	pricing *pricing
	kept    *keptDocuments
}

func newDocuments(schema *ast.Schema, bounds Bounds) *documents {
	return &documents{bounds, schema, newPricing(schema, bounds), newKeptDocuments(maxKeptBytes)}
}

// prepared is an operation that is ready to run.
type prepared struct {
	*keptDocument
	operation *ast.OperationDefinition // nil where the document has none of that name
}

// prepare makes the request ready to run, its variables as the schema has
// them, or tells why it cannot run.
func (d *documents) prepare(ctx context.Context, params *graphql.RawParams) (*prepared, gqlerror.List) {
	kept := d.kept.find(params.Query)
	if kept == nil {
		document, faults := d.read(params.Query)
		if len(faults) > 0 {
			return nil, faults
		}
		kept = d.kept.add(params.Query, document)
	}
	asked := &prepared{kept, kept.document.Operations.ForName(params.OperationName)}
	if asked.operation == nil {
		return asked, nil // the executor says so
	}
	variables, faults := d.variables(asked.operation, params.Variables)
	if len(faults) > 0 {
		return nil, faults
	}
	params.Variables = variables
	budget, fault := d.pricing.check(asked.operation, variables)
	if op, ok := ctx.Value(operationKey{}).(*operation); ok {
		op.budget = budget
	}
	return asked, listed(fault)
}

// read parses, measures and validates a document.
func (d *documents) read(query string) (*ast.QueryDocument, gqlerror.List) {
	if fault := (bound{"is %d bytes long", len(query), d.bounds.Bytes, "send values as variables"}).check(); fault != nil {
		return nil, listed(fault)
	}
	if fault := checkLiterals(query); fault != nil {
		return nil, listed(fault)
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.bounds.Tokens)
	var malformed *gqlerror.Error
	switch {
	case errors.As(err, &malformed) && strings.HasPrefix(malformed.Message, "exceeded token limit"):
		return nil, listed(bound{"has %d tokens or more", d.bounds.Tokens + 1, d.bounds.Tokens, "send several operations, and values as variables"}.check())
	case malformed != nil:
		return nil, listed(malformed)
	}
	if len(document.Operations) == 0 {
		return nil, gqlerror.List{{Message: `There is no operation provided: send it as the member "query", such as {"query": "{ settings { currency } }"}.`}}
	}
	if fault := fits(document, d.bounds); fault != nil {
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
		if len(faults) > maxErrors { // one more shows that there are more
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
		conflicts(d.schema, operation, report)
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

// executorRules are what the executor holds a document against that was
// prepared and left the kept ones before it came there: it is valid, and is
// read again for its types alone.
func executorRules() *rules.Rules { return rules.NewRules(validationRules()...) }

const (
	maxKeptBytes = 16 << 20 // of all documents that are kept, about
	parsedBytes  = 48       // of memory for a byte of a document, and of its plans, about
	keptOverhead = 1 << 10
)

// keptDocuments are those that were asked last, with their plans, within a
// budget of bytes. It implements graphql.Cache.
type keptDocuments struct {
	mu     sync.Mutex
	budget int
	bytes  int
	order  *list.List // of *keptDocument, the latest in front
	places map[string]*list.Element
}

type keptDocument struct {
	query    string
	document *ast.QueryDocument
	plans    plan.Document
}

func (k *keptDocument) bytes() int { return keptOverhead + len(k.query)*parsedBytes }

func newKeptDocuments(budget int) *keptDocuments {
	return &keptDocuments{budget: budget, order: list.New(), places: map[string]*list.Element{}}
}

// find returns what is kept; nil for nothing.
func (k *keptDocuments) find(query string) *keptDocument {
	k.mu.Lock()
	defer k.mu.Unlock()
	place, ok := k.places[query]
	if !ok {
		return nil
	}
	k.order.MoveToFront(place)
	return place.Value.(*keptDocument)
}

// add keeps a document, and returns the one that is kept: another request may
// have been as quick.
func (k *keptDocuments) add(query string, document *ast.QueryDocument) *keptDocument {
	k.mu.Lock()
	defer k.mu.Unlock()
	if place, ok := k.places[query]; ok {
		return place.Value.(*keptDocument)
	}
	added := &keptDocument{query: query, document: document}
	k.places[query] = k.order.PushFront(added)
	k.bytes += added.bytes()
	for k.bytes > k.budget && k.order.Len() > 1 {
		last := k.order.Back()
		k.order.Remove(last)
		leaving := last.Value.(*keptDocument)
		delete(k.places, leaving.query)
		k.bytes -= leaving.bytes()
	}
	return added
}

// Get implements graphql.Cache.
func (k *keptDocuments) Get(_ context.Context, query string) (*ast.QueryDocument, bool) {
	if kept := k.find(query); kept != nil {
		return kept.document, true
	}
	return nil, false
}

// Add implements graphql.Cache.
func (k *keptDocuments) Add(_ context.Context, query string, document *ast.QueryDocument) {
	k.add(query, document)
}
