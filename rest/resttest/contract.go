// Package resttest validates REST requests and responses against openapi.yaml. CheckHandler
// wraps the handler of a test server. Only tests may import it.
package resttest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"portico/internal/web"
	"portico/internal/web/middleware"
	"portico/rest"
	"portico/store/storetest/testkit"
)

// Contract is openapi.yaml.
type Contract struct {
	Document *openapi3.T
	paths    *http.ServeMux // finds the path of a request; see route
}

// LoadContract parses and validates openapi.yaml, once.
var LoadContract = sync.OnceValues(func() (*Contract, error) {
	served := httptest.NewRecorder()
	rest.OpenAPI().ServeHTTP(served, httptest.NewRequest(http.MethodGet, rest.OpenAPIPath, nil))
	document, err := openapi3.NewLoader().LoadFromData(served.Body.Bytes())
	if err != nil {
		return nil, err
	}
	if err := document.Validate(context.Background()); err != nil { // as 3.1, with its examples
		return nil, err
	}
	// The validator of OpenAPI 3.1 compiles a schema for each response, which takes
	// milliseconds. That of 3.0 supports type arrays, the only feature of 3.1 in use.
	document.OpenAPI = "3.0.3"
	c := &Contract{document, http.NewServeMux()}
	for address, item := range document.Paths.Map() {
		c.paths.HandleFunc(address, func(_ http.ResponseWriter, r *http.Request) {
			found := r.Context().Value(routeKey{}).(*routers.Route)
			found.Path, found.PathItem = address, item
			for segment := range strings.SplitSeq(address, "/") {
				if name, ok := strings.CutPrefix(segment, "{"); ok {
					name = strings.TrimSuffix(name, "}")
					r.Context().Value(pathKey{}).(map[string]string)[name] = r.PathValue(name)
				}
			}
		})
	}
	return c, nil
})

// Context keys of what the handlers of Contract.paths fill in for route.
type (
	routeKey struct{} // *routers.Route
	pathKey  struct{} // map[string]string, the path parameters
)

// route returns the operation of a request and its path parameters. PathItem is nil for an
// unknown path, Operation for an unsupported method.
func (c *Contract) route(r *http.Request) (*routers.Route, map[string]string) {
	found, parameters := &routers.Route{Spec: c.Document, Method: r.Method}, map[string]string{}
	ctx := context.WithValue(context.WithValue(r.Context(), routeKey{}, found), pathKey{}, parameters)
	req := r.Clone(ctx)
	if at, ok := middleware.CanonicalURL(req.URL); ok {
		req.URL = at
		c.paths.ServeHTTP(httptest.NewRecorder(), req)
	}
	if found.PathItem != nil {
		found.Operation = found.PathItem.GetOperation(r.Method)
	}
	return found, parameters
}

// Check validates a response, and the request if the response is a success.
func (c *Contract) Check(r *http.Request, sent []byte, status int, header http.Header, body []byte) (err error) {
	req := r.Clone(context.WithoutCancel(r.Context()))
	if req.Method == http.MethodHead {
		req.Method = http.MethodGet // net/http drops the body later
	}
	req.URL.RawQuery = strings.ReplaceAll(req.URL.RawQuery, ";", "%3B")
	req.Body = io.NopCloser(bytes.NewReader(sent))
	route, parameters := c.route(req)
	if route.Operation == nil {
		return c.checkUnknown(route, req, status, body)
	}
	if header.Get("Content-Encoding") == "gzip" {
		if body, err = gunzip(body); err != nil {
			return err
		}
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, SkipSettingDefaults: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	input := &openapi3filter.RequestValidationInput{Request: req, PathParams: parameters, Route: route, Options: options}
	resp := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: status, Header: header, Options: options}
	if err := openapi3filter.ValidateResponse(r.Context(), resp.SetBodyBytes(body)); err != nil {
		return fmt.Errorf("the response does not match openapi.yaml: %w", err)
	}
	if documented := route.Operation.Responses.Status(status); len(documented.Value.Content) == 0 && len(body) > 0 {
		return errors.New("the response has a body, but openapi.yaml has none")
	}
	if status >= 300 {
		return nil
	}
	req.Header.Set("Content-Type", "application/json") // the API ignores the label of a JSON body
	if !bytes.HasPrefix(bytes.TrimSpace(sent), []byte("{")) {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
		return fmt.Errorf("the request succeeded, but does not match openapi.yaml: %w", err)
	}
	return nil
}

func gunzip(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// checkUnknown requires 404 or 405, in the envelope of the path, for a request that
// openapi.yaml does not have.
func (c *Contract) checkUnknown(route *routers.Route, r *http.Request, status int, body []byte) error {
	want, envelope := http.StatusNotFound, "Errors"
	if route.PathItem != nil {
		want = http.StatusMethodNotAllowed
		if r.Method == http.MethodOptions {
			want = http.StatusNoContent
		}
	}
	if status != want {
		return fmt.Errorf("openapi.yaml does not have %s %s, so the status must be %d, got %d", r.Method, r.URL.Path, want, status)
	}
	if status == http.StatusNoContent {
		return nil
	}
	if web.FirstSegment(r.URL) == "catalog" {
		envelope = "CatalogErrors"
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return c.Document.Components.Schemas[envelope].Value.VisitJSON(value)
}

// notREST matches the paths of the server that are not REST.
var notREST = regexp.MustCompile(`^/(graphql|schema\.graphql|openapi\.yaml|docs(/.*)?|playground/.*|graphiql(/.*)?)?$`)

// escapedHTML finds the characters that encoding/json escapes by default.
var escapedHTML = regexp.MustCompile(`\\u00(26|3[CcEe])`)

// CheckHandler fails a test for each REST request or response that does not match openapi.yaml.
func CheckHandler(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	c, err := LoadContract()
	if err != nil {
		t.Fatal(err)
	}
	var all, validated atomic.Int64
	t.Cleanup(func() { t.Logf("of %d responses %d were validated against openapi.yaml", all.Load(), validated.Load()) })
	var alike sampler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, broken := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		if broken != nil {
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), &errorReader{broken}))
		}
		resp := httptest.NewRecorder()
		next.ServeHTTP(resp, r)
		if notREST.MatchString(r.URL.Path) {
			// not REST
		} else if all.Add(1); alike.shouldCheck(c, r, resp.Code) {
			validated.Add(1)
			if err := c.Check(r, sent, resp.Code, resp.Header(), resp.Body.Bytes()); err != nil {
				t.Errorf("%s %.300s %q %.300s\nreturns %d %.600s\n%.1500s", r.Method, r.URL, r.Header, sent, resp.Code, resp.Body, err)
			}
		}
		if escaped := escapedHTML.FindString(resp.Body.String()); escaped != "" && !bytes.Contains(sent, []byte(`\u`)) {
			t.Errorf("%s %.300s returns %s, which needs no escape: %.600s", r.Method, r.URL, escaped, resp.Body)
		}
		for name, values := range resp.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.Code)
		_, _ = w.Write(resp.Body.Bytes())
	})
}

// The first responses of an operation with a status are all validated. Quick tests then validate a
// sample, because tests of long lists produce thousands.
const (
	alwaysChecked = 50
	sampleEvery   = 10
)

// sampler counts the responses of each operation and status.
type sampler struct{ counts sync.Map }

// shouldCheck counts a response, and reports whether to validate it.
func (s *sampler) shouldCheck(c *Contract, r *http.Request, status int) bool {
	route, _ := c.route(r)
	count, _ := s.counts.LoadOrStore(fmt.Sprint(r.Method, " ", route.Path, " ", status), new(atomic.Int64))
	n := count.(*atomic.Int64).Add(1)
	return testkit.FullTests() || n <= alwaysChecked || n%sampleEvery == 0
}

// errorReader ends a body with an error.
type errorReader struct{ err error }

func (f *errorReader) Read([]byte) (int, error) { return 0, f.err }
