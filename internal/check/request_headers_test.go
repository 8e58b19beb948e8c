package check

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/opctx"
	"portico/internal/web/frontcache"
)

// headersReadBy lists the functions that take a name or more from a variable, or take the header as a whole, with the request headers
// that they read. Constants in calls of them are found. Functions of other modules that take a request or a handler are here too.
var headersReadBy = map[string][]string{
	"portico/graph/opctx.header":                                           strings.Split(opctx.Vary, ", "),
	"portico/internal/web/middleware.checkText":                            opctx.TextHeaders(),
	"(*portico/graph/transport.connection).init":                           append(strings.Split(opctx.Vary, ", "), "Authorization"),
	"(*portico/graph/transport.handler).execute":                           nil, // for gqlgen's OperationContext, whose Headers are followed
	"(*portico/graph/executor.execution).allow":                            nil, // the same
	"(*portico/graph/executor.execution).runPlan":                          nil, // the same
	"(github.com/99designs/gqlgen/graphql/handler/transport.SSE).Do":       {"Accept", "Content-Type"},
	"(github.com/99designs/gqlgen/graphql/handler/transport.Websocket).Do": nil, // upgrades by websocket.Accept
	"(*portico/internal/web/frontcache.lookup).begin":                      nil, // asks KnowsHeader of all
	"(*portico/internal/tracing.Tracing).start":                            {"Traceparent", "Tracestate"},
	"github.com/coder/websocket.Accept":                                    {"Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "Sec-Websocket-Extensions"},
	"(*github.com/rs/cors.Cors).Handler":                                   {"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers", "Access-Control-Request-Private-Network"},
	"net/http.ServeContent":                                                {"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"},
}

// methodsOfRequests are the methods of http.Request that read headers.
var methodsOfRequests = map[string]string{"BasicAuth": "Authorization", "Cookie": "Cookie", "Cookies": "Cookie", "CookiesNamed": "Cookie", "UserAgent": "User-Agent",
	"Referer": "Referer", "FormValue": "Content-Type", "FormFile": "Content-Type", "ParseForm": "Content-Type", "ParseMultipartForm": "Content-Type",
	"PostFormValue": "Content-Type", "MultipartReader": "Content-Type"}

// headerReads are the reads of request headers in the module.
type headerReads struct {
	names    map[string]string // a place that reads each, by canonical name
	indirect map[string]bool   // functions that belong to headersReadBy
}

// TestFrontCacheKnowsEveryHeaderThatIsRead finds each request header that the code reads: by Get, Values or an index with a
// constant, by a method of http.Request, or by what headersReadBy lists. The front cache, which ignores the headers that it does not
// know, must know each of them.
func TestFrontCacheKnowsEveryHeaderThatIsRead(t *testing.T) {
	t.Parallel()
	reads := headerReads{map[string]string{}, map[string]bool{}}
	for _, p := range checkedPackages(t, ".") {
		if p.path == "portico/internal/remote" || p.path == "portico/rest/resttest" { // a client, and a helper of tests
			continue
		}
		p.readHeaders(fset, &reads)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(headersReadBy)), slices.Collect(maps.Keys(reads.indirect)))
	for function, names := range headersReadBy {
		for _, name := range names {
			reads.names[http.CanonicalHeaderKey(name)] = function
		}
	}
	require.Greater(t, len(reads.names), 25)
	for name, place := range reads.names {
		if !frontcache.KnowsHeader(name) {
			t.Errorf("%s reads the header %s: add it to useOf in internal/web/frontcache", place, name)
		}
	}
}

// readHeaders adds the reads of a package.
func (c checkedPackage) readHeaders(fset *token.FileSet, reads *headerReads) {
	for _, file := range c.files {
		for _, declaration := range file.Decls {
			function, within := "a variable of "+c.path, []ast.Node(nil)
			if f, ok := declaration.(*ast.FuncDecl); ok {
				function = c.info.Defs[f.Name].(*types.Func).FullName()
			}
			ast.Inspect(declaration, func(node ast.Node) bool {
				if node == nil {
					within = within[:len(within)-1]
					return true
				}
				within = append(within, node)
				place := fset.Position(node.Pos()).String()
				switch node := node.(type) {
				case *ast.SelectorExpr:
					c.readField(node, within, function, place, reads)
				case *ast.CallExpr:
					c.readCall(node, place, reads)
				}
				return true
			})
		}
	}
}

// readField adds what an expression reads of Request.Header, or of the header of an operation of gqlgen. within are the nodes that
// it is in, itself last.
func (c checkedPackage) readField(field *ast.SelectorExpr, within []ast.Node, function, place string, reads *headerReads) {
	v, ok := c.info.Uses[field.Sel].(*types.Var)
	if !ok || !v.IsField() || v.Type().String() != "net/http.Header" || v.Name() == "Header" && !strings.HasSuffix(c.info.TypeOf(field.X).String(), "net/http.Request") ||
		v.Pkg().Path() != "net/http" && !strings.HasPrefix(v.Pkg().Path(), "github.com/99designs/gqlgen") {
		return
	}
	var name ast.Expr
	switch parent := within[len(within)-2].(type) {
	case *ast.IndexExpr:
		name = parent.Index
	case *ast.SelectorExpr:
		call, called := within[len(within)-3].(*ast.CallExpr)
		switch parent.Sel.Name {
		case "Set", "Add", "Del":
			return
		case "Get", "Values":
			if called {
				name = call.Args[0]
			}
		}
	case *ast.KeyValueExpr, *ast.AssignStmt: // written, or passed on
	}
	if text, constant := c.text(name); constant {
		reads.names[http.CanonicalHeaderKey(text)] = place
	} else {
		reads.indirect[function] = true
	}
}

// readCall adds what a function reads that is called.
func (c checkedPackage) readCall(call *ast.CallExpr, place string, reads *headerReads) {
	selected, ok := call.Fun.(*ast.SelectorExpr)
	var identifier *ast.Ident
	if ok {
		identifier = selected.Sel
	} else if identifier, ok = call.Fun.(*ast.Ident); !ok {
		return
	}
	callee, ok := c.info.Uses[identifier].(*types.Func)
	if !ok || callee.Pkg() == nil {
		return
	}
	name := callee.FullName()
	if header, ok := methodsOfRequests[callee.Name()]; ok && strings.HasPrefix(name, "(*net/http.Request).") {
		reads.names[header] = place
	}
	if _, listed := headersReadBy[name]; listed && strings.Contains(name, "portico/") {
		for _, argument := range call.Args {
			if text, constant := c.text(argument); constant {
				reads.names[http.CanonicalHeaderKey(text)] = place
			}
		}
	}
	if strings.HasPrefix(callee.Pkg().Path(), "portico/") || callee.Name() == "ServeHTTP" || strings.HasPrefix(name, "(*net/http.ServeMux)") || strings.HasPrefix(name, "(*net/http.Client)") {
		return
	}
	for _, argument := range call.Args {
		if of := c.info.TypeOf(argument); of != nil && (of.String() == "*net/http.Request" || of.String() == "net/http.Handler") {
			reads.indirect[name] = true
		}
	}
}

// text returns the value of a constant text.
func (c checkedPackage) text(expression ast.Expr) (text string, ok bool) {
	if expression == nil {
		return "", false
	}
	value := c.info.Types[expression].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}
