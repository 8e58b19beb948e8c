package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/storetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	testID     = "client-1"
	testSecret = "a-secret-that-nobody-sees"
	testToken  = "a-token-that-nobody-sees"
)

// recordedServer answers as servers of the interface do, with pages in testdata. Faults answer a request before it does.
type recordedServer struct {
	*httptest.Server
	requests atomic.Int64 // without those for tokens
	fault    func(w http.ResponseWriter, r *http.Request, n int64) bool
}

func newRecordedServer(t *testing.T) *recordedServer {
	s := &recordedServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		isLogin := r.URL.Path == "/oauth/access_token"
		n := int64(0)
		if !isLogin {
			n = s.requests.Add(1)
		}
		switch {
		case s.fault != nil && s.fault(w, r, n):
		case isLogin:
			login(w, r)
		case r.Header.Get("Authorization") != "Bearer "+testToken:
			refuse(w, http.StatusUnauthorized, "no token")
		default:
			answer(w, recordedFile(r))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func login(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("client_id") != testID || r.FormValue("client_secret") != testSecret || r.FormValue("grant_type") != "client_credentials" {
		refuse(w, http.StatusUnauthorized, "not "+r.FormValue("client_secret"))
		return
	}
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600,"expires":1,"identifier":"client_credentials"}`, testToken)
}

func refuse(w http.ResponseWriter, status int, detail string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errors":[{"status":"%d","title":"Refused","detail":%q}]}`, status, detail)
}

// recordedFile returns the name of the page for a request; empty for none.
func recordedFile(r *http.Request) string {
	query, _ := url.ParseQuery(r.URL.RawQuery)
	second := query.Get("page[offset]") != "0"
	switch r.URL.Path {
	case "/catalog/hierarchies":
		if query.Has("filter") {
			return "hierarchies-fr"
		}
		return "hierarchies"
	case "/catalog/products":
		switch {
		case query.Has("filter") && r.Header.Get("Accept-Language") == "fr":
			return "products-fr"
		case query.Has("filter"):
			return "products-eur"
		case second:
			return "products-2"
		}
		return "products-1"
	case "/catalog/nodes":
		return "nodes-fr"
	case "/v2/inventories":
		if second {
			return "inventories-2"
		}
		return "inventories-1"
	case "/catalog/hierarchies/h-1/nodes":
		return "nodes"
	case "/v2/promotions/pr-1/codes":
		return "codes"
	case "/catalog", "/v2/settings", "/v2/currencies", "/v2/promotions", "/v2/gateways":
		return r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	}
	if node, ok := strings.CutPrefix(r.URL.Path, "/catalog/nodes/n-"); ok {
		return "node-" + strings.TrimSuffix(node, "/relationships/products")
	}
	return ""
}

func answer(w http.ResponseWriter, file string) {
	text, err := os.ReadFile(filepath.Join("testdata", "recorded", file+".json"))
	if file == "" || err != nil {
		refuse(w, http.StatusNotFound, "there is no such path")
		return
	}
	_, _ = w.Write(text)
}

// config is a fetch of a server into a new folder, without pauses.
func (s *recordedServer) config(t *testing.T) Config {
	return Config{URL: s.URL, Credentials: Credentials{testID, testSecret}, Rate: 1e6, Folder: filepath.Join(t.TempDir(), "fetched"), firstWait: time.Millisecond}
}

// lines returns what was fetched.
func lines(t *testing.T, f *Folder) string {
	t.Helper()
	var all strings.Builder
	for _, file := range f.Files() {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

// requireGolden compares the lines of the recorded shop with the golden file.
func requireGolden(t *testing.T, got string) {
	t.Helper()
	golden := filepath.Join("testdata", "recorded.ndjson")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestRecordedShopBecomesLines(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	folder, err := Fetch(t.Context(), s.config(t))
	require.NoError(t, err)
	requireGolden(t, lines(t, folder))
	var gaps []string
	for _, gap := range folder.Gaps() {
		gaps = append(gaps, gap.String())
	}
	require.Subset(t, gaps, []string{
		"files of no product, which the server refuses (404 Not Found)",
		"products that have stock, but are not in the catalog (their stock is moved): 1",
		"promotions of a type that Portico does not have: 1",
		"gateways that Portico does not have: 1",
		"passwords of enabled gateways (set them with PUT /v2/gateways/card_processor): 1",
		"SKUs of products without one (their id is their SKU): 1",
		"the start of sales (they are on from now), and the tiers of the prices that they replace: 1",
		"uses so far of codes without a limit (they start at 0): 1",
	})
}

// TestRecordedLinesCanBeImported imports the golden file, with the stock of a draft as the only likely mistake.
func TestRecordedLinesCanBeImported(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded.ndjson"))
	require.NoError(t, err)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		report := storetest.ImportWithOptions(t, e.Open(t), string(text), func(o *exchange.ImportOptions) { o.Settings = true })
		require.Equal(t, 1, report.WarningCount, "%v", report.Warnings)
	})
}

// TestInterruptedFetchContinues stops a fetch after each request. The next run repeats at most a page.
func TestInterruptedFetchContinues(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	whole, err := Fetch(t.Context(), s.config(t))
	require.NoError(t, err)
	all := s.requests.Load()
	c := s.config(t)
	var folder *Folder
	runs := 0
	for ; folder == nil; runs++ {
		require.Less(t, runs, 100)
		ctx, cancel := context.WithCancel(t.Context())
		before := s.requests.Load()
		s.fault = func(_ http.ResponseWriter, r *http.Request, n int64) bool {
			if n > before+6 { // a page of nodes has five requests
				cancel()
				<-r.Context().Done()
				return true
			}
			return false
		}
		folder, err = Fetch(ctx, c)
		if folder == nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		cancel()
		torn, err := os.OpenFile(filepath.Join(c.Folder, "products.ndjson"), os.O_WRONLY|os.O_APPEND, 0o600)
		if err == nil && folder == nil { // as a kill in the middle of a line leaves it
			_, err = torn.WriteString(`{"type":"product","id":"to`)
			require.NoError(t, errors.Join(err, torn.Close()))
		}
	}
	require.Greater(t, runs, 2)
	require.Less(t, s.requests.Load(), 3*all)
	require.Equal(t, lines(t, whole), lines(t, folder))

	before := s.requests.Load()
	folder.Close()
	again, err := Fetch(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, before, s.requests.Load(), "a folder that is complete is used as it is")
	require.NoError(t, again.Remove())
	require.NoDirExists(t, c.Folder)
}

func TestFolderOfAnotherFetch(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	c := s.config(t)
	folder, err := Fetch(t.Context(), c)
	require.NoError(t, err)
	folder.Close()
	other := c
	other.Languages = []string{"de"}
	_, err = Fetch(t.Context(), other)
	require.ErrorContains(t, err, "read by another client or in other languages")
	other = c
	other.Channel, other.Tags = "web", []string{"vip"}
	_, err = Fetch(t.Context(), other)
	require.ErrorContains(t, err, "for shoppers without channel and tags. Import it first")

	foreign := s.config(t)
	require.NoError(t, os.Mkdir(foreign.Folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(foreign.Folder, "mine.txt"), nil, 0o600))
	_, err = Fetch(t.Context(), foreign)
	require.ErrorContains(t, err, "has other files")
	state, err := os.ReadFile(filepath.Join(c.Folder, stateFile))
	require.NoError(t, err)
	require.NotContains(t, string(state), testSecret)
	require.NotContains(t, string(state), testToken)
}

// TestFolderIsLocked: a second import into a folder is refused from the begin of the first to its end, and changes nothing.
func TestFolderIsLocked(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("has no flock")
	}
	s := newRecordedServer(t)
	c := s.config(t)
	refused := func() {
		_, err := Fetch(t.Context(), c)
		require.ErrorContains(t, err, fmt.Sprintf("another import (process %d) is using the folder %s. Wait until it has ended, or use another folder with --from-folder", os.Getpid(), c.Folder))
	}
	var during atomic.Int64
	s.fault = func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		if r.URL.Path == "/catalog/hierarchies" && during.Add(1) == 1 {
			refused()
		}
		return false
	}
	folder, err := Fetch(t.Context(), c)
	require.NoError(t, err)
	require.Positive(t, during.Load())
	refused() // while it is imported
	requireGolden(t, lines(t, folder))
	folder.Close()
	folder.Close()
	again, err := Fetch(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, again.Remove())
	require.NoDirExists(t, c.Folder)

	broken, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Fetch(broken, c)
	require.ErrorIs(t, err, context.Canceled)
	require.NoDirExists(t, c.Folder, "nothing was read")
	require.NoError(t, os.MkdirAll(c.Folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.Folder, lockName), []byte("process 1\n"), 0o600)) // as a kill leaves it
	_, err = Fetch(t.Context(), c)
	require.NoError(t, err)
}

// TestCatalogOfAShopper sends channel and tags with each request, and keeps the prices of catalogs apart.
func TestCatalogOfAShopper(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	s.fault = func(w http.ResponseWriter, r *http.Request, n int64) bool {
		for name, want := range map[string]string{"Store-Channel": "web", "EP-Channel": "web", "Store-Context-Tag": "vip,new", "EP-Context-Tag": "vip,new"} {
			if n > 0 && r.Header.Get(name) != want {
				refuse(w, http.StatusTeapot, name+" is "+r.Header.Get(name))
				return true
			}
		}
		return false
	}
	c := s.config(t)
	c.Channel, c.Tags = "web", []string{"vip", "new"}
	var said strings.Builder
	c.Progress = func(text string) { said.WriteString(text + "\n") }
	folder, err := Fetch(t.Context(), c)
	require.NoError(t, err)
	require.Contains(t, said.String(), fmt.Sprintf("the catalog of channel web, tags vip, new is %q\n", folder.state.Shop.CatalogID))
	const rule = `{"type":"catalog_rule","id":"RULE","attributes":{"name":"channel web, tags vip, new","catalog_id":"0f0e0d0c-0b0a-4908-8706-050403020100","channels":["web"],"tags":["vip","new"]}}` + "\n"
	requireGolden(t, strings.Replace(lines(t, folder), strings.Replace(rule, "RULE", derivedID("rule", "channel web, tags vip, new"), 1), "", 1))

	p := &wireProduct{}
	f := &fetcher{apiClient: &apiClient{}, folder: folder}
	require.Equal(t, "prices", f.pricebookOf(p))
	f.shopper = shopperHeader(c)
	first := f.pricebookOf(p)
	folder.state.Shop.CatalogID = "another"
	require.NotEqual(t, first, f.pricebookOf(p))
	p.Meta.PricebookID = "told"
	require.Equal(t, "told", f.pricebookOf(p))
}

// TestServersInTrouble answers each fifth request with an error that may not last.
func TestServersInTrouble(t *testing.T) {
	t.Parallel()
	for _, status := range []int{408, 429, 500, 502, 503} {
		s, waits := newRecordedServer(t), 0
		s.fault = func(w http.ResponseWriter, _ *http.Request, n int64) bool {
			if n%5 != 1 {
				return false
			}
			refuse(w, status, "come back later")
			return true
		}
		c := s.config(t)
		c.Waiting = func(cause string, _ time.Duration) {
			waits++
			require.Equal(t, fmt.Sprint(status, " ", http.StatusText(status), " (come back later)"), cause[strings.Index(cause, ": ")+2:])
		}
		folder, err := Fetch(t.Context(), c)
		require.NoError(t, err)
		require.Positive(t, waits)
		requireGolden(t, lines(t, folder))
	}
}

// TestRetryAfterIsObeyed shows that the pause that the server asks for replaces the client's own.
func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	s.fault = func(w http.ResponseWriter, _ *http.Request, n int64) bool {
		if n != 1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "too many")
		return true
	}
	c := s.config(t)
	var wait time.Duration
	c.Waiting = func(_ string, d time.Duration) { wait = d }
	_, err := Fetch(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, time.Second, wait)

	s.requests.Store(0)
	s.fault = func(w http.ResponseWriter, _ *http.Request, n int64) bool {
		w.Header().Set("Retry-After", "999999999")
		if n > 0 {
			refuse(w, http.StatusServiceUnavailable, "closed for the winter")
		}
		return n > 0
	}
	_, err = Fetch(t.Context(), s.config(t))
	require.ErrorContains(t, err, "GET /catalog: 503 Service Unavailable (closed for the winter). The server did not recover in time. Run the command again later: it continues")
}

// TestTokenIsRenewed revokes the token in the middle.
func TestTokenIsRenewed(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	s.fault = func(w http.ResponseWriter, _ *http.Request, n int64) bool {
		if n == 4 {
			refuse(w, http.StatusUnauthorized, "revoked")
		}
		return n == 4
	}
	folder, err := Fetch(t.Context(), s.config(t))
	require.NoError(t, err)
	requireGolden(t, lines(t, folder))
}

// TestServersThatAreRefused are wrong and hostile servers: each ends with an error that names the request and the way out.
func TestServersThatAreRefused(t *testing.T) {
	t.Parallel()
	on := func(path, body string) func(http.ResponseWriter, *http.Request, int64) bool {
		return func(w http.ResponseWriter, r *http.Request, _ int64) bool {
			if r.URL.Path == path {
				fmt.Fprint(w, body)
			}
			return r.URL.Path == path
		}
	}
	tests := []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request, int64) bool
		want  string
	}{
		{"a page for people", func(w http.ResponseWriter, _ *http.Request, _ int64) bool {
			fmt.Fprint(w, "<!doctype html>\n<title>Shop</title>")
			return true
		}, `POST /oauth/access_token: the response is not the JSON of a commerce service; it begins with "<!doctype html> <title>Shop</title>". Is http`},
		{"nothing there", func(w http.ResponseWriter, _ *http.Request, _ int64) bool {
			http.NotFound(w, nil)
			return true
		}, "POST /oauth/access_token: 404 Not Found. Is http"},
		{"a token in data", on("/oauth/access_token", `{"data":{"access_token":"x"}}`), "POST /oauth/access_token: the response has no access_token"},
		{"a token that is refused", on("/oauth/access_token", `{"access_token":"other"}`), "GET /catalog: 401 Unauthorized (no token). The server does not accept the token. Check the client id and the secret."},
		{"a redirect", func(w http.ResponseWriter, r *http.Request, _ int64) bool {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusPermanentRedirect)
			return true
		}, "POST /oauth/access_token: 308 Permanent Redirect. The server redirects to \"https://elsewhere.example/\": use that address, if you trust it."},
		{"an endless response", func(w http.ResponseWriter, r *http.Request, n int64) bool {
			for n > 0 {
				if _, err := fmt.Fprint(w, strings.Repeat(" ", 1<<20)); err != nil {
					break
				}
			}
			return n > 0
		}, "GET /catalog: the response has more than 32 MiB"},
		{"too many rows", on("/catalog/hierarchies", `{"data":[`+strings.Repeat("{},", 1000)+`{}]}`), "GET /catalog/hierarchies?page[limit]=100&page[offset]=0: the page has 1001 rows, more than 1000"},
		{"a page that leads to itself", on("/catalog/hierarchies", `{"data":[{"id":"h"}],"links":{"next":"?page[limit]=100&page[offset]=0"}}`),
			"GET /catalog/hierarchies?page[limit]=100&page[offset]=0: the link to the next page leads to the same page"},
		{"another type", on("/catalog/hierarchies", `{"data":{"id":"h"}}`), "GET /catalog/hierarchies?page[limit]=100&page[offset]=0: the member data of the response has a wrong type: object"},
		{"another type in a row", on("/v2/promotions", `{"data":[{"id":"pr-9","promotion_type":"x_for_y","enabled":"yes"}]}`), `read promotions: the promotion "pr-9" is not as the interface has it: `},
		{"endless languages", on("/v2/settings", `{"data":{"page_length":25,"additional_languages":[`+manyTags()+`]}}`), "read shop: the server has "},
		{"deep nesting", on("/catalog", strings.Repeat("[", 1<<20)), "GET /catalog: the response is not the JSON of a commerce service"},
		{"an error that tells secrets", func(w http.ResponseWriter, r *http.Request, n int64) bool {
			if n > 0 {
				refuse(w, http.StatusForbidden, r.Header.Get("Authorization")+" "+testSecret)
			}
			return n > 0
		}, "GET /catalog: 403 Forbidden (Bearer *** ***). The client may not read this."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRecordedServer(t)
			s.fault = test.fault
			_, err := Fetch(t.Context(), s.config(t))
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), testSecret)
			require.NotContains(t, err.Error(), testToken)
		})
	}
}

// manyTags returns more languages than a shop has.
func manyTags() string {
	var tags []string
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			tags = append(tags, fmt.Sprintf(`"en-%c%c"`, a, b))
		}
	}
	return strings.Join(tags, ",")
}

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	c := s.config(t)
	c.Credentials = Credentials{"nobody", "another-secret"}
	_, err := Fetch(t.Context(), c)
	require.NoDirExists(t, c.Folder, "nothing was read")
	require.EqualError(t, err, "read shop: POST /oauth/access_token: 401 Unauthorized (not ***). Check the client id and the secret: the server does not accept them.")
	killed, err := openFolder(c.Folder, c)
	require.NoError(t, err)
	killed.Close()
	require.FileExists(t, filepath.Join(c.Folder, stateFile))
	c.Credentials = Credentials{testID, testSecret}
	folder, err := Fetch(t.Context(), c)
	require.NoError(t, err, "the folder of another client without a shop")
	requireGolden(t, lines(t, folder))
	require.NoError(t, folder.Remove())
	require.NoDirExists(t, c.Folder)
	s.Close()
	c = s.config(t)
	c.Credentials.ID = "nobody"
	c.firstWait = time.Microsecond
	_, err = Fetch(t.Context(), c)
	require.ErrorContains(t, err, "POST /oauth/access_token: no complete response: ")
}

// TestRefusedParts reads the rest of a shop of which the client may not read all.
func TestRefusedParts(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t)
	s.fault = func(w http.ResponseWriter, r *http.Request, _ int64) bool {
		if strings.HasPrefix(r.URL.Path, "/v2/") {
			refuse(w, http.StatusForbidden, "not for you")
			return true
		}
		return false
	}
	folder, err := Fetch(t.Context(), s.config(t))
	require.NoError(t, err)
	var refused []string
	for _, gap := range folder.Gaps() {
		if strings.Contains(gap.What, "refuses (403 Forbidden)") {
			refused = append(refused, strings.Fields(gap.What)[0])
		}
	}
	require.Equal(t, []string{"currencies,", "files", "gateways,", "promotions,", "settings,", "stock,"}, refused)
	require.Contains(t, lines(t, folder), `"currencies":{"USD":{"amount":1500,`)
}

// listServer has a list of resources, as a server with the bounds of the interface has it.
func listServer(t *testing.T, rows int, sorts bool) *apiClient {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth/access_token" {
			fmt.Fprint(w, `{"access_token":"x","expires_in":3600}`)
			return
		}
		query, _ := url.ParseQuery(r.URL.RawQuery)
		offset, _ := offsetOf(r.URL.RawQuery)
		from := offset
		switch {
		case offset > maxOffset, query.Has("sort") && !sorts:
			refuse(w, http.StatusUnprocessableEntity, "not processable")
			return
		case query.Has("filter"):
			_, _ = fmt.Sscanf(query.Get("filter"), "gt(id,r%06d)", &from)
			from++
		}
		data := []map[string]string{}
		for i := from; i < min(rows, from+pageLength); i++ {
			data = append(data, map[string]string{"id": fmt.Sprintf("r%06d", i)})
		}
		next := any(nil)
		if from+pageLength < rows && !query.Has("sort") {
			next = fmt.Sprintf("?page[limit]=100&page[offset]=%d", from+pageLength)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "links": map[string]any{"next": next},
			"meta": map[string]any{"results": map[string]any{"total": rows - cmp.Or(from-offset, 0)}}})
	}))
	t.Cleanup(s.Close)
	c, err := newClient(Config{URL: s.URL, Credentials: Credentials{ID: testID}, Rate: 1e6, firstWait: time.Millisecond})
	require.NoError(t, err)
	return c
}

// TestLongLists reads lists up to and beyond the largest offset.
func TestLongLists(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rows  int
		sorts bool
		want  int
	}{{0, false, 0}, {100, false, 100}, {101, false, 101}, {maxOffset + 100, false, maxOffset + 100}, {maxOffset + 350, true, maxOffset + 350}, {maxOffset + 350, false, maxOffset + 100}} {
		c, seen, left := listServer(t, test.rows, test.sorts), map[string]bool{}, 0
		l := resourceList{path: "/v2/things"}
		require.NoError(t, c.walk(t.Context(), l, l.first(), func(p *page) error {
			for _, row := range p.Data {
				seen[idOf(row)] = true
			}
			left += p.left
			return nil
		}))
		require.Len(t, seen, test.want, "%+v", test)
		require.Equal(t, test.rows-test.want, left, "%+v", test)
	}
}

func TestNodesFollowTheBreadcrumbs(t *testing.T) {
	t.Parallel()
	before := func(pairs ...string) map[string]map[string]bool {
		earlier := map[string]map[string]bool{}
		for _, pair := range pairs { // "ba": a comes before b
			if earlier[pair[:1]] == nil {
				earlier[pair[:1]] = map[string]bool{}
			}
			earlier[pair[:1]][pair[1:]] = true
		}
		return earlier
	}
	ids := []string{"a", "b", "c", "d"}
	for _, test := range []struct {
		earlier map[string]map[string]bool
		want    string
	}{{nil, "abcd"}, {before("ba"), "abcd"}, {before("ab"), "bacd"}, {before("ad", "dc"), "cdab"}, {before("ab", "ba"), "bacd"}, {before("ax"), "abcd"}} {
		require.Equal(t, test.want, strings.Join(sorted(ids, test.earlier), ""))
	}
}
