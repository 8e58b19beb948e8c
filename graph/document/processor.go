// Package document parses, validates and caches GraphQL documents, and resolves persisted and trusted ones.
// Processor prepares the operation of a request, Cache holds documents with their plans, and Manifest
// holds the trusted documents. The package must not import resolvers, the executor or transports.
package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"portico/graph/limits"
)

// Config configures a Processor.
type Config struct {
	Schema   *ast.Schema
	Limits   limits.Config
	Cache    *Cache               // nil for none
	Manifest *Manifest            // nil for none
	Count    func(outcome string) // called with an Outcome* for each persisted or trusted document; may be nil
	Log      *slog.Logger         // nil for none
}

// Processor turns requests into validated operations. It is safe for concurrent use.
type Processor struct {
	Config
	costs   *limits.CostEstimator
	parsing chan struct{} // semaphore: one element for each document that is parsed now
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
	return &Processor{config, limits.NewCostEstimator(config.Schema, config.Limits), make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Prepare parses and validates the document of a request, decodes and coerces the variables that it defines into params, and checks
// the cost. If the document has no operation of the requested name, Definition is nil and the executor
// reports it.
func (p *Processor) Prepare(params *graphql.RawParams, sent map[string]json.RawMessage) (*Operation, gqlerror.List) {
	outcome, hash, err := p.resolve(params)
	if outcome != "" {
		p.Count(outcome)
	}
	if err != nil {
		return nil, gqlerror.List{err}
	}
	cached := p.Cache.document(params.Query)
	if cached == nil {
		document, errs := p.parse(params.Query)
		if len(errs) > 0 {
			return nil, errs
		}
		if cached = p.Cache.addDocument(params.Query, document); outcome == OutcomeUntrusted {
			p.Log.Warn("a document is not in the manifest", "sha256", Hash(params.Query), "operation", document.Operations[0].Name)
		}
	}
	if hash != "" {
		p.Cache.addHash(cached, hash)
	}
	op := &Operation{CachedDocument: cached, Definition: cached.Document.Operations.ForName(params.OperationName), Outcome: outcome}
	if op.Definition == nil {
		return op, nil
	}
	variables, errs := coerceVariables(p.Schema, op.Definition, sent, p.Limits.Name)
	if len(errs) > 0 {
		return nil, errs
	}
	params.Variables = variables
	if op.Allowance, op.Cost, err = p.costs.Check(op.Definition, variables); err != nil {
		return op, gqlerror.List{err}
	}
	return op, nil
}

// parse parses a document, and checks limits and validity: the text and tokens, then what the document defines, then its size,
// then the schema. It parses at most GOMAXPROCS documents at once: each needs a CPU for milliseconds, and more at once would only
// delay all other requests.
func (p *Processor) parse(query string) (*ast.QueryDocument, gqlerror.List) {
	p.parsing <- struct{}{}
	defer func() { <-p.parsing }()
	if err := limits.CheckText(query, p.Limits); err != nil {
		return nil, gqlerror.List{err}
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, p.Limits.Tokens)
	var malformed *gqlerror.Error
	switch {
	case errors.As(err, &malformed) && malformed.Locations == nil: // only the error of the token limit has no location
		return nil, gqlerror.List{limits.TooManyTokens(p.Limits)}
	case malformed != nil:
		return nil, gqlerror.List{syntaxError(query, malformed)}
	}
	for _, fragment := range document.Fragments {
		if len(fragment.VariableDefinition) > 0 { // an early draft of the specification had them
			return nil, gqlerror.List{gqlerror.ErrorPosf(fragment.VariableDefinition[0].Position, `Expected "on", found (. Fragments have no variables of their own; define them in the operation.`)}
		}
	}
	if len(document.Operations) == 0 {
		return nil, gqlerror.List{{Message: `There is no operation provided: send it by POST as the member "query", such as {"query": "{ settings { currency } }"}, or by GET as ?query=.`}}
	}
	if err := limits.CheckDocument(document, p.Limits); err != nil {
		return nil, gqlerror.List{err}
	}
	return document, p.validate(document)
}

// syntaxError returns an error of the parser without the text of the token that it quotes, which may be a part of a secret: it keeps
// the kind of the token and its position. For a token that the lexer does not know, it returns the lexer's error, which says what is
// wrong. To find it, the lexer reads the document again, within the limits of its length and tokens.
func syntaxError(query string, err *gqlerror.Error) *gqlerror.Error {
	tokens := lexer.New(&ast.Source{Input: query})
	for invalid := strings.Contains(err.Message, lexer.Invalid.String()); invalid; {
		token, failed := tokens.ReadToken()
		invalid = !errors.As(failed, &err) && token.Kind != lexer.EOF
	}
	keyword, message := "", err.Message
	if at := strings.Index(message, ", found"); at >= 0 {
		keyword, message = message[:at], message[at:] // such as: Expected "on", found Name "…"
	}
	if quote := strings.IndexAny(message, "\"\\"); quote > 0 && message[quote-1] == ' ' {
		message = strings.TrimSuffix(strings.TrimRight(message[:quote], ": "), " but got") + "."
	}
	return &gqlerror.Error{Message: keyword + message, Locations: err.Locations}
}

// errStopWalk is the panic that ends the library's walk of a document.
type errStopWalk struct{}

// validate validates a document against the schema, and sets the types and definitions in it that plans need. It stops at one error
// more than limits.MaxErrors. Conflicts are checked only in a document that is valid otherwise.
func (p *Processor) validate(document *ast.QueryDocument) (errs gqlerror.List) {
	defer func() {
		if reason := recover(); reason != nil {
			if _, stopped := reason.(errStopWalk); !stopped {
				panic(reason)
			}
		}
	}()
	report := func(err *gqlerror.Error) {
		errs = append(errs, err)
		if len(errs) > limits.MaxErrors { // one more shows that errors are left out
			panic(errStopWalk{})
		}
	}
	observers := &core.Events{}
	for _, rule := range validationRules() {
		rule.RuleFunc(observers, func(options ...core.ErrorOption) {
			err := &gqlerror.Error{Rule: rule.Name}
			for _, option := range options {
				option(err)
			}
			suggestRows(p.Schema, err)
			report(err)
		})
	}
	// After the walk, also if it was stopped: adds to errors of values which argument they are about.
	defer func() { nameArguments(document, errs) }()
	core.Walk(p.Schema, document, observers)
	if len(errs) > 0 {
		return errs
	}
	for _, operation := range document.Operations {
		limits.CheckConflicts(p.Schema, operation, report)
	}
	unlinkVariables(document)
	return errs
}

// unlinkVariables removes the definitions that the library's walk has set in variables. A fragment has those of the operation
// that was walked last, and would take its defaults in each. The values of variables have the defaults already.
func unlinkVariables(document *ast.QueryDocument) {
	w := valueWalker{visit: func(_ []string, _ *ast.Position, value *ast.Value) {
		if value != nil {
			value.VariableDefinition = nil
		}
	}}
	w.document(document)
}

// suggestRows adds to the library's error of a field that a connection or an edge lacks where that has it, such as nodes { name }.
func suggestRows(schema *ast.Schema, err *gqlerror.Error) {
	var field, parent string
	_, failed := fmt.Sscanf(err.Message, "Cannot query field %q on type %q.", &field, &parent)
	if failed != nil || !strings.HasSuffix(parent, "Connection") && !strings.HasSuffix(parent, "Edge") {
		return
	}
	message, _, suggested := strings.Cut(err.Message, " Did you mean")
	for _, name := range []string{"nodes", "node", "edges", "pageInfo"} {
		if of := schema.Types[parent].Fields.ForName(name); of != nil && schema.Types[of.Type.Name()].Fields.ForName(field) != nil {
			err.Message = fmt.Sprintf(`%s Did you mean "%s { %s }"?`, message, name, field)
			return
		}
	}
	if nodes := schema.Types[parent].Fields.ForName("nodes"); nodes != nil && !suggested && (strings.HasSuffix(field, "s") || field == "data") {
		err.Message += ` Did you mean "nodes"?`
	}
}

// validationRules returns the rules of the GraphQL specification in a fixed order. limits.CheckConflicts replaces the one on
// conflicting fields, and literalsOfCorrectType the one on values: the messages of the others have no values.
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
		literalsOfCorrectType,
		rules.VariablesAreInputTypesRule,
		rules.VariablesInAllowedPositionRule,
	}
}
