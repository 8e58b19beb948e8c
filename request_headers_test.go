package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/opctx"
	"portico/internal/responsecache"
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
	fset := token.NewFileSet()
	reads := headerReads{map[string]string{}, map[string]bool{}}
	for _, p := range checkedPackages(t, fset, ".") {
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

// TestHeadersShareNoWrongResponse sends requests that the front cache answers with each of many headers besides, and requires what a
// server without caches answers to the same.
func TestHeadersShareNoWrongResponse(t *testing.T) {
	t.Parallel()
	h := newDemoServer(t, "--cors-origin", "https://shop.example")
	bare := *h.app
	bare.responses = responsecache.NewCache(0)
	front, plain := h.front.Middleware(h.handler), bare.handler()
	send := func(handler http.Handler, request testRequest, headers http.Header) *httptest.ResponseRecorder {
		r, w := h.request(t.Context(), request), httptest.NewRecorder()
		maps.Copy(r.Header, headers)
		handler.ServeHTTP(w, r)
		w.Header().Del("X-Request-Id")
		w.Header().Del("Content-Length") // where a short body is compressed on its way
		return w
	}
	hits := func() uint64 { return h.responses.Stats().Hits }
	long := strings.Repeat("x", 5000)
	var hostile []http.Header
	for name, values := range map[string][]string{
		"Accept": {"text/event-stream", "application/graphql-response+json", "*/*"}, "Accept-Language": {"de", "\xff", long}, "Accept-Encoding": {"gzip", "zstd", "identity;q=0"},
		"Access-Control-Request-Method": {"PUT"}, "Authorization": {"", "Bearer none", "Basic eDp5"}, "Baggage": {"a=1"}, "Cf-Ray": {"8a"}, "Connection": {"close"},
		"Content-Encoding": {"gzip", "identity"}, "Content-Type": {"text/plain", "application/json; charset=utf-16", "application/graphql-response+json"},
		"Consistency-Token": {"x", "catalog=9"}, "Cookie": {"a=b"}, "Ep-Channel": {"app"}, "Ep-Context-Tag": {"vip"}, "Ep-Inventories-Multi-Location": {"true"},
		"Expect": {"100-continue"}, "Forwarded": {"for=1.2.3.4"}, "Idempotency-Key": {"x", "\xff", long}, "If-Match": {`"x"`}, "If-Modified-Since": {"Sun, 06 Nov 2094 08:49:37 GMT"},
		"If-None-Match": {"*", `"x"`}, "If-Range": {`"x"`}, "If-Unmodified-Since": {"Sun, 06 Nov 1994 08:49:37 GMT"}, "Origin": {"https://shop.example", "https://other.example", "null"},
		"Prefer": {"graphql", "return=minimal"}, "Range": {"bytes=0-1"}, "Store-Catalog-Release": {"9", "none"}, "Store-Channel": {"app", "\xff"}, "Store-Context-Tag": {"vip"},
		"Te": {"trailers"}, "Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "Upgrade": {"websocket", "h2c"}, "X-Amzn-Trace-Id": {"Root=1"},
		"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"}, "X-Http-Method-Override": {"DELETE"}, "X-Moltin-Currency": {"EUR", "XX", "\xff"},
		"X-Moltin-Language": {"de"}, "X-Original-Url": {"/v2/settings"}, "X-Rewrite-Url": {"/v2/settings"}, "X-Scheme": {"https"}, "Unlisted": {"x"},
	} {
		for _, value := range values {
			hostile = append(hostile, http.Header{name: {value}})
		}
		hostile = append(hostile, http.Header{name: values})
	}
	for _, request := range h.cachedRequests() {
		before := hits()
		for range 4 {
			send(front, request, nil)
		}
		require.Greater(t, hits(), before, request.name)
		for _, headers := range hostile {
			want := send(plain, request, headers)
			for range 4 {
				got := send(front, request, headers)
				require.Equal(t, want.Code, got.Code, "%s with %.80q", request.name, headers)
				require.Equal(t, want.Header(), got.Header(), "%s with %.80q", request.name, headers)
				require.Equal(t, want.Body.String(), got.Body.String(), "%s with %.80q", request.name, headers)
			}
		}
	}
}

// TestHeadersThatNobodyReadsShareResponses requires that headers of proxies do not keep requests from the front cache.
func TestHeadersThatNobodyReadsShareResponses(t *testing.T) {
	t.Parallel()
	h := newDemoServer(t)
	handled := 0
	front := h.front.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handled++
		h.handler.ServeHTTP(w, r)
	}))
	for _, request := range h.cachedRequests() {
		handled = 0
		for i := range 5 {
			r := h.request(t.Context(), request)
			r.Header.Set("Cf-Ray", strconv.Itoa(i))
			r.Header.Set("X-Amzn-Trace-Id", "Root="+strconv.Itoa(i))
			r.Header.Set("X-Scheme", "https")
			front.ServeHTTP(httptest.NewRecorder(), r)
		}
		require.LessOrEqual(t, handled, 2, request.name)
	}
}
