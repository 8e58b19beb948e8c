package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// repeat repeats a text, with the number of the repetition for each #.
func repeat(times int, text string) string {
	var b strings.Builder
	for i := range times {
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// documents returns the attacks of the OWASP GraphQL cheat sheet, up to a megabyte each, with the
// expected error code.
func documents() map[string][2]string {
	return map[string][2]string{
		"aliases":            {"{" + repeat(10_000, " a#:products(first:100){nodes{id name}}") + "}", "UNPROCESSABLE"},
		"aliases of nothing": {"{" + repeat(100_000, " a#:__typename") + "}", "UNPROCESSABLE"},
		"codes to guess":     {"{" + repeat(10_000, ` a#:promotionCodeCheck(code:"GUESS-#"){valid}`) + "}", "UNPROCESSABLE"},
		"tokens to mint":     {"mutation{" + repeat(10_000, ` a#:shopperTokenCreate(input:{}){token}`) + "}", ""},
		"depth": {"{products{nodes" + strings.Repeat("{parent", 20_000) + "{id}" + strings.Repeat("}", 20_000) + "}}",
			"INVALID"},
		"depth without end":          {strings.Repeat("{a", 200_000), ""},
		"deep lists of values":       {"{nodes(ids:" + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + "){id}}", ""},
		"fragments in a circle":      {"{...a} fragment a on Query{...b} fragment b on Query{...a}", ""},
		"fragments in a long circle": {"{...f0}" + repeat(10_000, " fragment f# on Query{...f#x}") + " fragment fx on Query{...f0}", ""},
		"a fragment in itself":       {"{...a} fragment a on Query{__typename ...a}", ""},
		"fragments that double":      {"{...f0}" + repeat(40, " fragment f# on Query{...f#x ...f#x}"), ""},
		"directives":                 {"{__typename " + strings.Repeat("@include(if:true)", 50_000) + "}", "UNPROCESSABLE"},
		"unknown directives":         {"{__typename " + repeat(50_000, "@a# ") + "}", ""},
		"fields again and again":     {"{settings{" + strings.Repeat("pageLength ", 90_000) + "}}", "UNPROCESSABLE"},
		"fields that conflict":       {"{" + repeat(20_000, " a:products(first:#){totalCount}") + "}", "UNPROCESSABLE"},
		"introspection in a circle":  {"{__schema{types{fields{type{fields{type{fields{type{fields{type{name}}}}}}}}}}}", "INVALID"},
		"introspection, many times":  {"{" + repeat(1_000, " a#:__schema{types{name fields{name args{name}}}}") + "}", "UNPROCESSABLE"},
		"a page beyond":              {"{products(first:1000000){nodes{id}}}", ""},
		"a page before the first":    {"{products(first:-1){nodes{id}}}", ""},
		"an offset beyond":           {"{products(offset:99999999){nodes{id}}}", ""},
		"a number beyond":            {"{products(first:" + strings.Repeat("9", 100_000) + "){nodes{id}}}", ""},
		"operations":                 {repeat(30_000, " query q#{__typename}"), ""},
		"variables":                  {"query(" + repeat(50_000, "$v#:Int ") + "){__typename}", ""},
		"a megabyte of text":         {`{product(by:{sku:"` + strings.Repeat("x", 1<<20) + `"}){id}}`, ""},
		"a megabyte of comments":     {strings.Repeat("#x\n", 300_000) + "{nowhere}", ""},
		"a megabyte of commas":       {strings.Repeat(",", 1<<20) + "{nowhere}", ""},
		"a megabyte of a name":       {"{" + strings.Repeat("x", 1<<20) + "}", ""},
		"control characters":         {"{nowhere(a:\"\x01\u202e\u0000\")}", ""},
		"subscriptions":              {"subscription{" + repeat(1_000, ` a#:stockChanged(productIds:["a"]){uuid}`) + "}", ""},
		"SQL":                        {`{product(by:{sku:"' OR 1=1; --"}){id nowhere}}`, ""},
		"a cursor of somebody's":     {`{products(after:"` + strings.Repeat("eyJsIjoi", 5_000) + `"){totalCount}}`, ""},
		"search by everything":       {`{products(filter:{search:"` + strings.Repeat("a ", 100_000) + `"}){totalCount}}`, ""},
		"filters within filters": {"{products(filter:" + strings.Repeat("{and:[", 2_000) + strings.Repeat("]}",
			2_000) + "){totalCount}}", ""},
		"ids":                            {`{nodes(ids:[` + strings.Repeat(`"UHJvZHVjdDpw",`, 50_000) + `]){id}}`, ""},
		"a mutation that is none":        {"mutation{a:products{totalCount}}", ""},
		"a mutation, ten thousand times": {"mutation{" + repeat(10_000, ` a#:settingsUpdate(input:{pageLength:25}){settings{id}}`) + "}", ""},
	}
}

// TestExpensiveDocumentsAreRejected requires an error that names the reason.
func TestExpensiveDocumentsAreRejected(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "the tests of graph refuse such documents without a process")
	a := startAttackTarget(t)
	for name, document := range documents() {
		for _, credential := range []string{a.token, ""} {
			response, body := a.graphql(t, credential, document[0])
			requireDocumentedShape(t, name, "/graphql", response, body)
			require.Contains(t, body, `"errors"`, name)
			require.Less(t, len(body), 64<<10, "%s: what is sent is not sent back", name)
			if credential != "" && document[1] != "" {
				require.Contains(t, body, `"code":"`+document[1]+`"`, name)
			}
		}
	}
	a.requireRecovered(t)
}

// TestCrossSiteRequestsAreRejected requires that the server rejects requests that a page of another
// site can send without a preflight, batches of operations, and mutations by GET.
func TestCrossSiteRequestsAreRejected(t *testing.T) {
	t.Parallel()
	a := startAttackTarget(t)
	const change = `mutation { settingsUpdate(input: {pageLength: 77}) { settings { pageLength } userErrors { message } } }`
	quoted, _ := json.Marshal(change)
	one := `{"query":` + string(quoted) + `}`
	authorized := []string{"Authorization", "Bearer " + a.token}
	ask := func(want int, method, path, body string, headers ...string) {
		t.Helper()
		response, answer := a.send(t, method, path, body, append(headers, authorized...)...)
		what := fmt.Sprint(method, " ", path, headers)
		requireDocumentedShape(t, what, "/graphql", response, answer)
		require.Equal(t, want, response.StatusCode, "%s: %.200s", what, answer)
	}
	for _, kind := range []string{"text/plain", "text/plain;charset=application/json", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=b", "", "application/jsonp", "text/json", "application/json, text/plain"} {
		ask(415, "POST", "/graphql", one, "Content-Type", kind)
		ask(415, "POST", "/graphql", "query="+url.QueryEscape(change), "Content-Type", kind)
	}
	parts := "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n" + one + "\r\n--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{\"0\":[\"variables.file\"]}\r\n--b--\r\n"
	ask(415, "POST", "/graphql", parts, "Content-Type", "multipart/form-data; boundary=b")
	ask(405, "GET", "/graphql?query="+url.QueryEscape(change), "")
	ask(405, "GET", "/graphql?query="+url.QueryEscape("query a{__typename} "+change[:8]+" b"+change[8:])+"&operationName=b", "")
	ask(400, "POST", "/graphql?query="+url.QueryEscape(change), "{}", "Content-Type", "application/json", "Accept",
		"application/graphql-response+json")
	ask(400, "POST", "/graphql", "["+one+"]", "Content-Type", "application/json")
	ask(400, "POST", "/graphql", "["+strings.Repeat(one+",", 10_000)+one+"]", "Content-Type", "application/json")
	ask(400, "POST", "/graphql", one+one, "Content-Type", "application/json")
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		ask(405, method, "/graphql", one, "Content-Type", "application/json")
	}
	hash := strings.Repeat("0", 64) // hash of another document
	for range 2 {
		_, body := a.send(t, "POST", "/graphql", `{"query":`+string(quoted)+`,"extensions":{"persistedQuery":{"version":1,"sha256Hash":"`+hash+`"}}}`, append(authorized, "Content-Type", "application/json")...)
		require.Contains(t, body, `"errors"`)
	}
	response, body := a.send(t, "OPTIONS", "/graphql", "", "Origin", "https://elsewhere.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type")
	require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"), body)
	_, body = a.graphql(t, a.token, `{ settings { pageLength } }`)
	require.NotContains(t, body, "77", "no mutation ran")
	for _, query := range []string{`{__schema{types{name}}}`, `{__type(name:"Query"){fields{name}}}`, `{products{nodes{id}}}`} {
		_, body := a.graphql(t, "", query)
		require.Contains(t, body, `"UNAUTHENTICATED"`, query)
	}
	a.requireRecovered(t)
}

// lists are the list routes, with their query parameters.
var lists = []string{
	"/catalog/products", "/catalog/nodes", "/catalog/hierarchies", "/catalog/hierarchies/hier-menu/nodes",
	"/catalog/nodes/node-coffee/relationships/products", "/catalog/nodes/node-coffee/relationships/children",
	"/catalog/products/prod-americano/relationships/children", "/v2/inventories", "/v2/inventories/prod-americano/transactions",
	"/v2/promotions", "/v2/promotions/none/codes", "/v2/promotions/none/usages", "/v2/files", "/v2/currencies", "/v2/gateways",
}

// drawQuery returns a random query string of known parameters and unusual values.
func drawQuery(r *rand.Rand) string {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	number := func() string {
		return pick("0", "1", "5", "100", "101", "-1", "10000", "10001", "9223372036854775808", "1e3", "0x5", "1.5", "+1", " 1", "", "null",
			"NaN", "٥", strings.Repeat("9", 400))
	}
	var text func(depth int) string
	text = func(depth int) string {
		value := pick("a", "COF-AME", "prod-americano", `"a b"`, `"`, "*", "*a*", "(", ")", ",", ":", "\\", "%", "\x00", "\xff", "é", "\u202e",
			"'; DROP TABLE x; --", "${jndi:x}", "null", strings.Repeat("x", 3_000), "2024-01-01", "")
		if depth > 0 && r.IntN(3) == 0 {
			return pick("eq", "in", "like", "gt", "and", "or", "not", "") + "(" + text(depth-1) + "," + text(depth-1) + ")"
		}
		return value
	}
	clause := func() string {
		of := pick("name", "sku", "slug", "id", "tags", "product_types", "upc_ean", "created_at", "updated_at", "code", "nothing", "",
			"name,name", "Name", "__proto__")
		return pick("eq", "in", "like", "gt", "ge", "lt", "le", "ilike", "EQ", "", "eq(eq") + pick("(", "((", "") + of + pick(",", ", ", ":",
			"") + text(3) + pick(")", "))", "", "):", "):("+strings.Repeat("(", 500))
	}
	values := url.Values{}
	var loose []string
	for range 1 + r.IntN(4) {
		switch r.IntN(7) {
		case 0, 1:
			all := clause()
			for range r.IntN(4) {
				all += pick(":", ",", "::", " ", "|") + clause()
			}
			if r.IntN(40) == 0 {
				all = strings.Repeat(clause()+":", 200)
			}
			values.Add(pick("filter", "filter", "filter", "Filter", "filter[]", "filter[name]"), all)
		case 2:
			values.Add(pick("page[limit]", "page[offset]", "page", "page[]", "page[total]", "page[limit", "limit"), number())
		case 3:
			values.Add(pick("page[after]", "page[before]", "page[cursor]"),
				pick("", "a", "eyJsIjoieCJ9", "bnVsbA", "====", strings.Repeat("A", 2_000), "\x00", "eyJsIjoieCIsInAiOjFlOTl9"))
		case 4:
			values.Add("sort", pick("name", "-name", "id", "--id", "created_at", "-updated_at", "nothing", "", "name,id", "-", "\x00",
				strings.Repeat("name,", 500)))
		case 5:
			values.Add(pick("include", "dry_run", "fields", "callback", "_method", "EP-Inventories-Multi-Location", "x[y][z]"),
				pick("main_image", "files,component_products", "true", "", text(1)))
		default:
			loose = append(loose, pick("&&&", "=", "%zz", "%", ";", "a;b", "filter", "filter=eq(name,a)&filter=eq(name,b)",
				"page[limit]=1&page[limit]=2", "page%5Blimit%5D=%31", "?", "#", "+"))
		}
	}
	query := strings.Join(append(loose, values.Encode()), "&")
	return query[:min(len(query), 30_000)] // within the header limit
}

// TestMalformedQueryStrings requires that each filter, page and sort value is accepted or rejected
// as openapi.yaml documents.
func TestMalformedQueryStrings(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		o := openDemo(t, e.URL(t))
		_, token := o.issue(t)
		s := o.serve(t)
		s.url = s.validated(t)
		r := rand.New(rand.NewPCG(seed, 1))
		asked := map[int]int{}
		for range testkit.QuickOrFull(300, 1_000) {
			path := lists[r.IntN(len(lists))]
			query := drawQuery(r)
			request, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
			require.NoError(t, err)
			request.URL.RawQuery = query
			request.Header.Set("Authorization", "Bearer "+token)
			request.Header.Set("Accept-Language", []string{"", "fr-CA", "*", "x;q=2", strings.Repeat("a-", 200), "\u00e9",
				"en;q=0.0001,;;,"}[r.IntN(7)])
			request.Header.Set("X-Moltin-Currency", []string{"", "USD", "usd", "XXXX", "\u00e9", strings.Repeat("U", 300)}[r.IntN(6)])
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err, "%s?%s", path, query)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			requireDocumentedShape(t, path+"?"+query, path, response, string(body))
			asked[response.StatusCode]++
		}
		require.Greater(t, asked[200], 20, "some are valid")
		require.Greater(t, asked[400], 50, "most are invalid")
		t.Log("answers by status:", asked)
	})
}
