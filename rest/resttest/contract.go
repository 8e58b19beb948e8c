// Package resttest holds what REST is asked and answers against its contract.
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
	"portico/store/storetest"
)

// Contract is openapi.yaml, to hold requests and answers against.
type Contract struct {
	Document *openapi3.T
	paths    *http.ServeMux
}

// LoadContract reads openapi.yaml, once, and finds out whether it is sound.
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
	// The validator of 3.1 compiles a schema anew for each answer, which takes
	// milliseconds; that of 3.0 knows type arrays, which is all that we need.
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

type (
	routeKey struct{}
	pathKey  struct{}
)

// route finds the operation that a request asks for, and the parameters of
// its path. PathItem is nil for an unknown path, Operation for a method that a
// path does not take.
func (c *Contract) route(r *http.Request) (*routers.Route, map[string]string) {
	found, parameters := &routers.Route{Spec: c.Document, Method: r.Method}, map[string]string{}
	ctx := context.WithValue(context.WithValue(r.Context(), routeKey{}, found), pathKey{}, parameters)
	asked := r.Clone(ctx)
	if at, ok := middleware.CanonicalURL(asked.URL); ok {
		asked.URL = at
		c.paths.ServeHTTP(httptest.NewRecorder(), asked)
	}
	if found.PathItem != nil {
		found.Operation = found.PathItem.GetOperation(r.Method)
	}
	return found, parameters
}

// Check holds an answer against the document, and the request where it was
// answered as a good one.
func (c *Contract) Check(r *http.Request, sent []byte, status int, header http.Header, body []byte) (err error) {
	asked := r.Clone(context.WithoutCancel(r.Context()))
	if asked.Method == http.MethodHead {
		asked.Method = http.MethodGet // whose body was not dropped yet
	}
	asked.URL.RawQuery = strings.ReplaceAll(asked.URL.RawQuery, ";", "%3B")
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	route, parameters := c.route(asked)
	if route.Operation == nil {
		return c.checkUnknown(route, asked, status, body)
	}
	if header.Get("Content-Encoding") == "gzip" {
		if body, err = gunzip(body); err != nil {
			return err
		}
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, SkipSettingDefaults: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	input := &openapi3filter.RequestValidationInput{Request: asked, PathParams: parameters, Route: route, Options: options}
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: status, Header: header, Options: options}
	if err := openapi3filter.ValidateResponse(r.Context(), answer.SetBodyBytes(body)); err != nil {
		return fmt.Errorf("the answer is not in the document: %w", err)
	}
	if documented := route.Operation.Responses.Status(status); len(documented.Value.Content) == 0 && len(body) > 0 {
		return errors.New("the answer has a body, and the document has none")
	}
	if status >= 300 {
		return nil
	}
	asked.Header.Set("Content-Type", "application/json") // as bodies are read, whatever their label
	if !bytes.HasPrefix(bytes.TrimSpace(sent), []byte("{")) {
		asked.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
		return fmt.Errorf("the request was answered, but is not in the document: %w", err)
	}
	return nil
}

// gunzip is a body that was sent compressed.
func gunzip(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// checkUnknown holds the answer to what the document does not have: 404 or
// 405 in the envelope of its family, and the word on what a path takes.
func (c *Contract) checkUnknown(route *routers.Route, r *http.Request, status int, body []byte) error {
	want, envelope := http.StatusNotFound, "Errors"
	if route.PathItem != nil {
		want = http.StatusMethodNotAllowed
		if r.Method == http.MethodOptions {
			want = http.StatusNoContent
		}
	}
	if status != want {
		return fmt.Errorf("the document does not have %s %s, so that the answer must be %d, got %d", r.Method, r.URL.Path, want, status)
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

// notREST are the paths of the service that are not REST.
var notREST = regexp.MustCompile(`^/(graphql|schema\.graphql|openapi\.yaml|docs(/.*)?|playground/.*|graphiql(/.*)?)?$`)

// escapedHTML finds the characters that encoding/json escapes unless told not to.
var escapedHTML = regexp.MustCompile(`\\u00(26|3[CcEe])`)

// CheckHandler lets no request and no answer to REST pass that openapi.yaml does
// not have.
func CheckHandler(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	c, err := LoadContract()
	if err != nil {
		t.Fatal(err)
	}
	var all, answers atomic.Int64
	t.Cleanup(func() { t.Logf("of %d answers %d were held against openapi.yaml", all.Load(), answers.Load()) })
	var alike sampler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, broken := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		if broken != nil {
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), &errorReader{broken}))
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if notREST.MatchString(r.URL.Path) {
			// not REST
		} else if all.Add(1); alike.shouldCheck(c, r, answer.Code) {
			answers.Add(1)
			if err := c.Check(r, sent, answer.Code, answer.Header(), answer.Body.Bytes()); err != nil {
				t.Errorf("%s %.300s %q %.300s\nanswers %d %.600s\n%.1500s", r.Method, r.URL, r.Header, sent, answer.Code, answer.Body, err)
			}
		}
		if escaped := escapedHTML.FindString(answer.Body.String()); escaped != "" && !bytes.Contains(sent, []byte(`\u`)) {
			t.Errorf("%s %.300s answers %s, which needs no escape: %.600s", r.Method, r.URL, escaped, answer.Body)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// Of answers to one operation with one status the first are all held against
// the contract; of the rest, which walks through long lists make thousands of,
// the short form of the tests takes a sample.
const (
	alwaysChecked = 50
	sampleEvery   = 10
)

// sampler counts answers that are alike.
type sampler struct{ counts sync.Map }

func (s *sampler) shouldCheck(c *Contract, r *http.Request, status int) bool {
	route, _ := c.route(r)
	count, _ := s.counts.LoadOrStore(fmt.Sprint(r.Method, " ", route.Path, " ", status), new(atomic.Int64))
	n := count.(*atomic.Int64).Add(1)
	return storetest.FullTests() || n <= alwaysChecked || n%sampleEvery == 0
}

// errorReader is the end of a body that broke off.
type errorReader struct{ err error }

func (f *errorReader) Read([]byte) (int, error) { return 0, f.err }
