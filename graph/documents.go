package graph

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
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
	trust   *Manifest            // nil for none
	reading chan struct{}        // holds a place for each document that is read at once
	count   func(outcome string) // of what is named, or held against the manifest
	log     *slog.Logger
}

func newDocuments(schema *ast.Schema, bounds Bounds) *documents {
	return &documents{bounds: bounds, schema: schema, pricing: newPricing(schema, bounds), kept: newKeptDocuments(maxKeptBytes), reading: make(chan struct{}, runtime.GOMAXPROCS(0)),
		count: func(string) {}, log: slog.New(slog.DiscardHandler)}
}

// prepared is an operation that is ready to run.
type prepared struct {
	*keptDocument
	operation *ast.OperationDefinition // nil where the document has none of that name
	allowed   allowance
	cost      *Cost  // what it could cost; nil until that is known
	outcome   string // of naming the document; empty where that is not counted
}

// streams tells whether the operation is a subscription.
func (p *prepared) streams() bool {
	return p.operation != nil && p.operation.Operation == ast.Subscription
}

// budget is what one run of the operation may spend.
func (p *prepared) budget() *budget { return &budget{allowance: p.allowed} }

// prepare makes the request ready to run, its document and its variables as
// the schema has them, or tells why it cannot run.
func (d *documents) prepare(params *graphql.RawParams) (*prepared, gqlerror.List) {
	outcome, hash, fault := d.name(params)
	d.counted(outcome)
	if fault != nil {
		return nil, listed(fault)
	}
	kept := d.kept.find(params.Query)
	if kept == nil {
		document, faults := d.read(params.Query)
		if len(faults) > 0 {
			return nil, faults
		}
		if kept = d.kept.add(params.Query, document); outcome == documentUnknown {
			d.log.Warn("a document is not in the manifest", "sha256", hashOf(params.Query), "operation", document.Operations[0].Name)
		}
	}
	if hash != "" {
		d.kept.name(kept, hash, params.Query)
	}
	asked := &prepared{keptDocument: kept, operation: kept.document.Operations.ForName(params.OperationName), outcome: outcome}
	if asked.operation == nil {
		return asked, nil // the executor says so
	}
	variables, faults := d.variables(asked.operation, params.Variables)
	if len(faults) > 0 {
		return nil, faults
	}
	params.Variables = variables
	asked.allowed, asked.cost, fault = d.pricing.check(asked.operation, variables)
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
	if fault := (bound{"is %d bytes long", len(query), d.bounds.Bytes, "send values as variables"}).check(); fault != nil {
		return nil, listed(fault)
	}
	if fault := checkLiterals(query); fault != nil {
		return nil, listed(fault)
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.bounds.Tokens)
	var malformed *gqlerror.Error
	switch {
	case errors.As(err, &malformed) && malformed.Locations == nil: // all but the bound on tokens tell where they are
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

// keptDocuments are those that were asked last, with their plans and with the
// requests that ask them. It implements graphql.Cache.
type keptDocuments struct {
	mu        sync.Mutex // of both
	documents *lru[*keptDocument]
	names     map[string]string // the documents that were sent with their hashes, by those
	requests  *lru[*ready]      // by the bytes of the body, or of the query string behind a question mark
}

type keptDocument struct {
	document *ast.QueryDocument
	plans    plan.Document
	hash     string              // that it was sent with; empty for none
	gone     bool                // it has made room for others
	requests map[string]struct{} // those that ask it, by their keys
}

// Bounds of the requests that are kept.
const (
	maxRequestBytes = 16 << 20 // of memory for all
	maxRequest      = 16 << 10 // bytes of one
	readyBytes      = 4        // of memory for a byte of one, about
)

func newKeptDocuments(budget int) *keptDocuments {
	k := &keptDocuments{names: map[string]string{}}
	k.requests = newLRU(maxRequestBytes, func(key string, request *ready) { delete(request.keptDocument.requests, key) })
	k.documents = newLRU(budget, func(_ string, document *keptDocument) {
		document.gone = true
		delete(k.names, document.hash)
		for key := range document.requests { // they hold it in memory
			k.requests.remove(key)
		}
	})
	return k
}

// find returns what is kept; nil for nothing.
func (k *keptDocuments) find(query string) *keptDocument {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, _ := k.documents.find([]byte(query))
	return kept
}

// add keeps a document, and returns the one that is kept: another request may
// have been as quick.
func (k *keptDocuments) add(query string, document *ast.QueryDocument) *keptDocument {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.documents.add(query, &keptDocument{document: document, requests: map[string]struct{}{}}, keptOverhead+len(query)*parsedBytes)
}

// name keeps a document by its hash too, for as long as it is kept.
func (k *keptDocuments) name(document *keptDocument, hash, query string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !document.gone {
		document.hash, k.names[hash] = hash, query
	}
}

// named returns the document that is kept by a hash; an empty one for none.
func (k *keptDocuments) named(hash string) (query string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.names[hash]
}

// ready returns the request that is kept under these bytes; nil for none.
func (k *keptDocuments) ready(sent []byte) *ready {
	if len(sent) > maxRequest {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, _ := k.requests.find(sent)
	return kept
}

// keep keeps a request for as long as its document is kept.
func (k *keptDocuments) keep(sent []byte, request *ready) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if request.gone || len(sent) > maxRequest {
		return
	}
	key := string(sent)
	if k.requests.add(key, request, keptOverhead+len(key)*readyBytes) == request {
		request.keptDocument.requests[key] = struct{}{}
	}
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
