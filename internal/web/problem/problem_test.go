package problem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range store.Codes() {
		m, ok := kinds[code]
		require.True(t, ok, "kinds has no entry for %s", code)
		require.GreaterOrEqual(t, m.status, 400, "%s", code)
		require.NotEmpty(t, m.title, "%s", code)
	}
	require.Len(t, kinds, len(store.Codes()), "no other entries")
}

// errorResponse is the output of Writer.
type errorResponse struct {
	*httptest.ResponseRecorder
	errors []errorBody
	log    string
}

func writeTestError(t *testing.T, path string, err error) errorResponse {
	t.Helper()
	return writeTestErrorOf(t, http.MethodGet, path, err)
}

func writeTestErrorOf(t *testing.T, method, path string, err error) errorResponse {
	t.Helper()
	var log bytes.Buffer
	w := httptest.NewRecorder()
	Writer(slog.New(slog.NewTextHandler(&log, nil)))(w, httptest.NewRequest(method, path, nil), err)
	var body struct{ Errors []errorBody }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), "%s", w.Body)
	return errorResponse{w, body.Errors, log.String()}
}

func TestEveryCodeInBothErrorFormats(t *testing.T) {
	t.Parallel()
	for _, code := range store.Codes() {
		t.Run(string(code), func(t *testing.T) {
			status := kinds[code].status
			for path, want := range map[string]any{"/catalog/x": fmt.Sprint(status), "/v2/x": float64(status), "/x": float64(status)} {
				got := writeTestError(t, path, &store.Error{Code: code, Detail: "Something is not as it should be."})
				require.Equal(t, status, got.Code, "%s", path)
				require.Equal(t, "application/json", got.Header().Get("Content-Type"))
				require.Len(t, got.errors, 1)
				require.Equal(t, want, got.errors[0].Status, "%s", path)
				require.NotEmpty(t, got.errors[0].Title, "%s", path)
				require.Equal(t, "Something is not as it should be.", got.errors[0].Detail)
				require.Equal(t, code == store.Unauthenticated, got.Header().Get("WWW-Authenticate") == "Bearer")
				require.Equal(t, code == store.RateLimited || code == store.Unavailable, got.Header().Get("Retry-After") != "", "Retry-After")
			}
		})
	}
}

func TestErrorsNameTheirSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, url, source string
		path                []string
	}{
		{"POST", "/v2/promotions", `{"pointer":"/data/schema/percent"}`, []string{"schema", "percent"}},
		{"POST", "/v2/promotions", `{"pointer":"/data/0/id"}`, []string{"data", "0", "id"}},
		{"POST", "/v2/inventories/multiple", `{"pointer":"/data/3"}`, []string{"product_ids", "3"}},
		{"POST", "/v2/promotions", `{"pointer":"/data/a~1b~0c"}`, []string{"a/b~c"}},
		{"POST", "/v2/promotions", `{"header":"Idempotency-Key"}`, []string{"idempotency_key"}},
		{"GET", "/v2/inventories", `{"parameter":"page[limit]"}`, []string{"first"}},
		{"GET", "/v2/inventories", `{"parameter":"page[after]"}`, []string{"after"}},
		{"GET", "/catalog/products", `{"parameter":"filter"}`, []string{"filter", "sku"}},
		{"GET", "/catalog/products/x", `{"parameter":"id"}`, []string{"id"}},
		{"POST", "/v2/promotions", `null`, nil},
		{"POST", "/oauth/access_token", `null`, []string{"grant_type"}},
	} {
		got := writeTestError(t, c.url, &store.Error{Code: store.Invalid, Path: c.path, Detail: "is wrong"})
		require.Len(t, got.errors, 1)
		if c.method != http.MethodGet {
			got = writeTestErrorOf(t, c.method, c.url, &store.Error{Code: store.Unprocessable, Reason: store.DuplicateCode, Path: c.path, Detail: "is wrong"})
			require.Equal(t, "DUPLICATE_CODE", got.errors[0].Code, "the reason is the code, as in GraphQL")
		}
		require.JSONEq(t, c.source, string(store.Encode(got.errors[0].Source)), "%s %s %q", c.method, c.url, c.path)
	}
}

func TestDocumentedTitles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path string
		err  *store.Error
		want string
	}{
		{"/catalog/x", &store.Error{Code: store.Unprocessable}, "There was a problem processing your request."},
		{"/catalog/x", &store.Error{Code: store.Internal}, "There was a problem processing your request."},
		{"/catalog/x", &store.Error{Code: store.Invalid}, "Bad Request"},
		{"/v2/x", &store.Error{Code: store.Internal}, "Internal server error"},
		{"/v2/x", &store.Error{Code: store.Invalid}, "Bad Request"},
		{"/v2/x", &store.Error{Code: store.Unprocessable, Title: "Duplicate code"}, "Duplicate code"},
		{"/catalog/x", &store.Error{Code: store.Unprocessable, Title: "Duplicate code"}, "Duplicate code"},
	} {
		test.err.Detail = "It is so."
		require.Equal(t, test.want, writeTestError(t, test.path, test.err).errors[0].Title, "%s of %s", test.err.Code, test.path)
	}
}

// TestMembersInDetails requires member names as REST spells them, and the names of parameters.
func TestMembersInDetails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path []string
		want string
	}{
		{nil, "It is so."},
		{[]string{"first"}, "page[limit] It is so."},
		{[]string{"last"}, "page[limit] It is so."},
		{[]string{"offset"}, "page[offset] It is so."},
		{[]string{"after"}, "page[after] It is so."},
		{[]string{"before"}, "page[before] It is so."},
		{[]string{"page_length"}, "page_length It is so."},
		{[]string{"data", "fooBar"}, "data.fooBar It is so."}, // as sent
		{[]string{"changes", "0", "expected_available"}, "changes.0.expected_available It is so."},
		{[]string{"filter"}, "Could not parse the supplied filter: it It is so."},
	} {
		err := &store.Error{Code: store.Invalid, Path: test.path, Detail: "It is so"}
		require.Equal(t, test.want, writeTestError(t, "/v2/x", err).errors[0].Detail, "%v", test.path)
	}
}

func TestSeveralErrorsInOneResponse(t *testing.T) {
	t.Parallel()
	got := writeTestError(t, "/v2/x", store.Errors{
		{Code: store.Unprocessable, Path: []string{"page_length"}, Detail: "must be smaller"},
		{Code: store.Unprocessable, Path: []string{"currency"}, Detail: "must be one"},
	})
	require.Equal(t, http.StatusUnprocessableEntity, got.Code)
	require.Equal(t, []errorBody{
		{float64(422), "Unprocessable Entity", "page_length must be smaller.", "UNPROCESSABLE", &errorSource{Parameter: "page_length"}},
		{float64(422), "Unprocessable Entity", "currency must be one.", "UNPROCESSABLE", &errorSource{Parameter: "currency"}},
	}, got.errors)
}

// TestStatusWithoutACode covers statuses without an error code, such as 405 and 413.
func TestStatusWithoutACode(t *testing.T) {
	t.Parallel()
	err := &auth.StatusError{Status: http.StatusRequestEntityTooLarge, Err: &store.Error{Code: store.Invalid, Detail: "It is too large."}}
	require.Equal(t, []errorBody{{float64(413), "Request Entity Too Large", "It is too large.", "INVALID", nil}}, writeTestError(t, "/v2/x", err).errors)
	got := writeTestError(t, "/catalog/x", err)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.Code)
	require.Equal(t, []errorBody{{"413", "Request Entity Too Large", "It is too large.", "INVALID", nil}}, got.errors)
}

// TestInternalErrorsAreHidden requires that internal errors are logged but not returned.
func TestInternalErrorsAreHidden(t *testing.T) {
	t.Parallel()
	secret := errors.New("SELECT password FROM /var/lib/secret")
	for _, path := range []string{"/catalog/x", "/v2/x"} {
		got := writeTestError(t, path, fmt.Errorf("reading: %w", secret))
		require.Equal(t, http.StatusInternalServerError, got.Code)
		require.Equal(t, "An internal error has occurred.", got.errors[0].Detail)
		require.NotContains(t, got.Body.String(), "SELECT")
		require.Contains(t, got.log, secret.Error())
	}
	require.Empty(t, writeTestError(t, "/v2/x", &store.Error{Code: store.NotFound, Detail: "It is not there."}).log,
		"client errors are not logged")
}

func TestRetryAfterIsNotOverwritten(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	w.Header().Set("Retry-After", "30")
	Writer(slog.New(slog.DiscardHandler))(w, httptest.NewRequest(http.MethodGet, "/v2/x", nil),
		&store.Error{Code: store.RateLimited, Detail: "Later."})
	require.Equal(t, "30", w.Header().Get("Retry-After"))
}
