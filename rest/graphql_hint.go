package rest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/store"
	"portico/store/gateway"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

//go:embed operations.graphql
var operationsText string

const (
	graphqlHeader = "Graphql-Request"
	maxGraphQL    = 8 << 10 // bytes, which proxies and clients accept

	// secretPlaceholder replaces secrets, as in the examples of openapi.yaml.
	secretPlaceholder = "<PASSWORD>"
)

// operations are the GraphQL documents of operations.graphql by operation name, each on
// one line with the fragments that it uses.
var operations = sync.OnceValue(func() map[string]string {
	document, err := parser.ParseQuery(&ast.Source{Name: "operations.graphql", Input: operationsText})
	if err != nil {
		panic(err) // embedded, and tested
	}
	byName := make(map[string]string, len(document.Operations))
	for _, operation := range document.Operations {
		alone := &ast.QueryDocument{Operations: ast.OperationList{operation}}
		addFragments(alone, document.Fragments, operation.SelectionSet)
		var text strings.Builder
		formatter.NewFormatter(&text, formatter.WithCompacted()).FormatQueryDocument(alone)
		byName[operation.Name] = strings.Join(strings.Fields(text.String()), " ")
	}
	return byName
})

// addFragments adds the fragments that a selection uses, each once.
func addFragments(to *ast.QueryDocument, from ast.FragmentDefinitionList, set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			addFragments(to, from, selection.SelectionSet)
		case *ast.FragmentSpread:
			if to.Fragments.ForName(selection.Name) == nil {
				fragment := from.ForName(selection.Name)
				to.Fragments = append(to.Fragments, fragment)
				addFragments(to, from, fragment.SelectionSet)
			}
		}
	}
}

type operationKey struct{}

// withOperation prepares the context of a request for its handler. It stores the route's operation for addGraphQLHint if the
// request has Prefer: graphql. Handlers run on one goroutine (model.WithSerial).
func withOperation(r *http.Request, operation string) *http.Request {
	ctx := model.WithSerial(r.Context())
	if prefers(r, "graphql") {
		ctx = context.WithValue(ctx, operationKey{}, operation)
	}
	return r.WithContext(ctx)
}

// wantsGraphQLHint reports whether the request has Prefer: graphql.
func wantsGraphQLHint(r *http.Request) bool {
	_, wanted := r.Context().Value(operationKey{}).(string)
	return wanted
}

// addGraphQLHint sets the header Graphql-Request to the same request as GraphQL: the
// body for POST /graphql, in ASCII, if the request has Prefer: graphql and the body fits
// maxGraphQL. variables are alternating names and values. Nil values are left out.
// Handlers call it before the resolver, so that error responses have the header too.
func addGraphQLHint(w http.ResponseWriter, r *http.Request, variables ...any) {
	operation, wanted := r.Context().Value(operationKey{}).(string)
	if !wanted {
		return
	}
	given := map[string]any{}
	for i := 0; i+1 < len(variables); i += 2 {
		if value := toGraphQLJSON(reflect.ValueOf(variables[i+1])); value != nil {
			addNulls(r, value, reflect.TypeOf(variables[i+1]))
			given[variables[i].(string)] = value
		}
	}
	line := escapeNonASCII(string(store.Encode(struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}{operations()[operation], given})))
	if len(line) > maxGraphQL {
		return
	}
	w.Header().Set(graphqlHeader, line)
	applied := "graphql"
	if others := w.Header().Get("Preference-Applied"); others != "" {
		applied = others + ", " + applied
	}
	w.Header().Set("Preference-Applied", applied)
}

// addNulls adds the null members of a PUT to an input whose Go type, shape, has them.
func addNulls(r *http.Request, input any, shape reflect.Type) {
	members, ok := input.(map[string]any)
	if !ok {
		return
	}
	for _, name := range opctx.Nulls(r.Context()) {
		name = model.ArgumentPath([]string{name})[0]
		if _, known := store.MemberType(shape, name); known {
			members[name] = nil
		}
	}
}

// addGraphQLHint adds the hint for a list, with its page, order and filter.
func (p *listParams) addGraphQLHint(w http.ResponseWriter, r *http.Request, filter any, variables ...any) {
	addGraphQLHint(w, r, append(variables, "filter", filter, "orderBy", p.order,
		"first", p.first, "after", p.after, "last", p.last, "before", p.before, "offset", p.offset)...)
}

// pathParameter returns a parameter of the path, or nil if the path has none.
func pathParameter(r *http.Request, name string) *string {
	value := r.PathValue(name)
	if value == "" {
		return nil
	}
	return &value
}

// toGraphQLJSON converts a resolver's argument to the JSON that GraphQL expects: members
// by their JSON names, enum values in capitals, without nil members and secrets.
func toGraphQLJSON(v reflect.Value) any {
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Slice && v.IsNil() { // nil of any type
		return nil
	}
	switch value := v.Interface().(type) {
	case gateway.Secret:
		switch {
		case value.Empty():
			return ""
		case value.Given() == nil: // REST's mask
			return gateway.SecretMask
		}
		return secretPlaceholder
	case time.Time:
		return value.Format(time.RFC3339Nano)
	case json.RawMessage, rule.AmountInput:
		return value
	case code.User: // always a list in GraphQL
		return toGraphQLJSON(reflect.ValueOf(value.Names()))
	}
	switch v.Kind() {
	case reflect.Pointer:
		return toGraphQLJSON(v.Elem())
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			return v.String()
		}
		if v.Len() > 0 { // a named string type is an enum
			return strings.ToUpper(v.String())
		}
		return nil
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = toGraphQLJSON(v.Index(i))
		}
		return list
	case reflect.Struct:
		members := map[string]any{}
		for _, field := range reflect.VisibleFields(v.Type()) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			value := v.FieldByIndex(field.Index)
			if field.Anonymous || name == "-" || strings.Contains(options, "omitempty") && value.IsZero() {
				continue
			}
			if value := toGraphQLJSON(value); value != nil {
				members[name] = value
			}
		}
		return members
	}
	return v.Interface()
}

// escapeNonASCII escapes non-ASCII characters in JSON, for use in a header.
func escapeNonASCII(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c < 0x7f:
			b.WriteRune(c)
		case c > 0xffff: // a surrogate pair
			c -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// prefers reports whether the header Prefer has a preference (RFC 7240). It ignores the
// preference's value and parameters.
func prefers(r *http.Request, preference string) bool {
	for _, line := range r.Header.Values("Prefer") {
		for entry := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(entry, ";")
			name, _, _ = strings.Cut(name, "=")
			if strings.EqualFold(strings.TrimSpace(name), preference) {
				return true
			}
		}
	}
	return false
}
