package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph"
	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// The limits of one request.
const (
	maxWork       = 64 << 20 // bytes allocated, those of the response too
	maxResponse   = 8 << 20  // bytes, --document-response-bytes
	maxStatements = 60_000 / 8
	maxCharged    = 60_000 * limits.BytesPerUnit // bytes read and steps of loops that compute

	fixedWork    = 512 << 10 // bytes of any request: its view, and the tree of nodes
	costlier     = 4         // how many times its cost an operation may turn out to be
	perStatement = 8         // units of cost
	perByte      = 3         // bytes allocated for each byte of a response, whose own bound is in bytes

	perDocumentByte = 128 // bytes allocated to compile a document, which has bounds of its own
)

// work is what the server did for a request.
type work struct {
	status                int
	document, response    int // bytes
	allocated, statements int
	cpu                   time.Duration // only for the log
	cost                  int           // estimated and spent
	charged               int           // bytes read and steps
	failure               string
}

// share returns the largest fraction of a limit that the request used.
func (w work) share() float64 {
	return max(float64(w.allocated)/maxWork, float64(w.statements)/maxStatements, float64(w.response)/maxResponse, float64(w.charged)/maxCharged)
}

// times returns how many times its cost a request's work was.
func (w work) times() float64 {
	bytes := float64(w.allocated - fixedWork - perByte*w.response - perDocumentByte*w.document)
	return max(bytes/limits.BytesPerUnit, float64(w.statements-8)*perStatement) / float64(max(1, w.cost))
}

func (w work) String() string {
	return fmt.Sprintf("%d kB allocated, %d statements, %v of CPU, %d kB of response, %d kB charged, cost %d: %.1f times that", w.allocated>>10, w.statements, w.cpu, w.response>>10, w.charged>>10, w.cost, w.times())
}

// worker sends requests one after the other and measures their work.
type worker struct {
	*graphtest.Service
	response responseBuffer
}

// responseBuffer records a response in memory that was allocated before.
type responseBuffer struct {
	header http.Header
	status int
	body   []byte
	size   int
}

func (b *responseBuffer) Header() http.Header    { return b.header }
func (b *responseBuffer) WriteHeader(status int) { b.status = status }
func (b *responseBuffer) Write(p []byte) (int, error) {
	b.size += len(p)
	if len(p) > cap(b.body)-len(b.body) {
		b.body = b.body[:0]
		p = p[max(0, len(p)-cap(b.body)):]
	}
	b.body = append(b.body, p...)
	return len(p), nil
}

func newWorker(s *graphtest.Service, options ...transport.Option) *worker {
	handler := opctx.Middleware(transport.NewHandler(graph.NewResolver(s.Store), slog.New(slog.NewTextHandler(s.Log, nil)), options...))
	return &worker{&graphtest.Service{Store: s.Store, Handler: handler, Log: s.Log}, responseBuffer{body: make([]byte, 0, 16<<20)}}
}

var estimated = regexp.MustCompile(`"cost":\{"requested":(\d+)`)

// ask measures one request. With prepared, the server parses and validates the document before.
func (w *worker) ask(t testing.TB, query string, values graphtest.Variables, reader *auth.Principal, prepared bool) work {
	send := func(reader *auth.Principal) work {
		body := graphtest.RequestBody(query, string(must(json.Marshal(values))))
		r := graphtest.NewRaw(t, strings.TrimSuffix(body, "}")+`,"extensions":{"cost":true}}`)
		ctx, statements := store.CountStatements(r.Context())
		r, _ = reqctx.Begin(graphtest.As(r.WithContext(ctx), reader))
		w.response.header, w.response.status, w.response.body, w.response.size = http.Header{}, http.StatusOK, w.response.body[:0], 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := cpuTime()
		w.Handler.ServeHTTP(&w.response, r)
		did := work{cpu: cpuTime() - began, status: w.response.status, document: len(query), response: w.response.size, statements: statements.Count()}
		did.cost, did.charged = costIn(r.Context())
		runtime.ReadMemStats(&after)
		if !testkit.RaceDetector { // with it, pools forget some of what is put back, and more is allocated by chance
			did.allocated = int(after.TotalAlloc - before.TotalAlloc)
		}
		if found := estimated.FindSubmatch(w.response.body); found != nil {
			did.cost = max(did.cost, must(strconv.Atoi(string(found[1]))))
		}
		if at := strings.Index(string(w.response.body[:min(len(w.response.body), 2000)]), `"errors":[{`); at >= 0 {
			did.failure = string(w.response.body[at:min(len(w.response.body), at+400)])
		}
		return did
	}
	if prepared {
		send(nil) // parses and validates it, which has bounds of its own
	}
	return send(reader)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// workers serve the large shop, with more lines: with a cache that holds almost nothing of it, and in the full
// tests also with one that holds all.
func workers(t *testing.T, e storetest.Backend, more string) []*worker {
	var list []*worker
	for _, bytes := range []uint64{2 << 20, 0}[:testkit.QuickOrFull(1, 2)] {
		list = append(list, newWorker(graphtest.Open(t, e, largeShop()+more, func(c *shop.Config) { c.CacheBytes = bytes })))
	}
	return list
}

// The test draws operations and compares their cost, estimated and charged, with their work in
// bytes allocated and statements. It must not run in parallel with others.
func TestWorkStaysWithinFourTimesTheCost(t *testing.T) {
	seed := testkit.Seed(t)
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		for i, w := range workers(t, e, "") {
			d := newDrawing(t, w.Service, seed+uint64(i))
			d.pages = []int{1, 2, 5, 10, 25, 50, 100}
			var worst work
			var of string
			ran := 0
			for range testkit.QuickOrFull(250, 3000) {
				query, values := d.query()
				reader := []*auth.Principal{graphtest.PublicClient(), graphtest.Admin()}[d.IntN(2)]
				did := w.ask(t, query, values, reader, true)
				// A garbage collection empties pools, which the next request refills, and what the server does besides
				// the request counts too: the caches' maintenance, for example.
				for try := range 10 {
					if did.times() <= costlier {
						break
					}
					time.Sleep(time.Duration(try) * 20 * time.Millisecond)
					if again := w.ask(t, query, values, reader, true); again.times() < did.times() {
						did = again
					}
				}
				if did.cost > 0 && did.status == http.StatusOK {
					ran++
				}
				if did.times() > worst.times() {
					worst, of = did, query+"\n"+string(must(json.Marshal(values)))+"\n"+did.failure
				}
			}
			t.Logf("%d operations ran; the worst: %v\n%s", ran, worst, of)
			require.Positive(t, ran)
			require.LessOrEqual(t, worst.times(), float64(costlier), "%v\n%s", worst, of)
		}
	})
}

// level is one field of the path of an expensive operation, with its arguments and leaves.
type level struct {
	field   *ast.FieldDefinition
	of      *ast.Definition
	aliases int // how often, with other arguments each time
	page    int
	way     int // how it is filtered and sorted
	leaf    int // which scalar it selects
	leaves  int // and how often
}

// expensive is an operation that is drawn to cause much work.
type expensive []level

// fields returns about how many fields it selects.
func (x expensive) fields() int {
	all, times := 0, 1
	for _, l := range x {
		all += times * (l.aliases + l.leaves)
		times *= l.aliases
	}
	return all
}

// random returns an operation of a few levels.
func (d *drawing) random() expensive {
	x := expensive{d.level(d.schema.Query)}
	for len(x) < 6 && d.IntN(3) > 0 {
		if deeper := d.deeper(x); len(deeper) > len(x) {
			x = deeper
		}
	}
	return x
}

func (d *drawing) level(of *ast.Definition) level {
	below := slices.DeleteFunc(fieldsBelow(d.schema, of), func(f *ast.FieldDefinition) bool {
		return strings.HasPrefix(f.Name, "promotion") || f.Name == "gateway"
	})
	if of == d.schema.Query && d.IntN(8) == 0 {
		below = slices.Clone(of.Fields[len(of.Fields)-2:]) // __schema and __type
	}
	if len(below) == 0 {
		return level{}
	}
	return level{below[d.IntN(len(below))], of, []int{1, 1, 2, 10, 50, 200}[d.IntN(6)], []int{1, 10, 100}[d.IntN(3)], d.IntN(ways), d.IntN(100), []int{1, 1, 10, 100}[d.IntN(4)]}
}

// deeper adds a level.
func (d *drawing) deeper(x expensive) expensive {
	last := x[len(x)-1]
	if next := d.level(d.schema.Types[last.field.Type.Name()]); next.field != nil {
		return append(slices.Clone(x), next)
	}
	return x
}

// mutate changes one thing.
func (d *drawing) mutate(x expensive) expensive {
	x = slices.Clone(x)
	at := &x[d.IntN(len(x))]
	grow := func(n, most int) int { return min(most, []int{n * 2, n * 4, n + 1, max(1, n/2), 1}[d.IntN(5)]) }
	switch d.IntN(8) {
	case 0, 1:
		at.aliases = grow(at.aliases, 480)
	case 2, 3:
		at.page = grow(at.page, 100)
	case 4:
		at.way = d.IntN(ways)
	case 5:
		at.leaves, at.leaf = grow(at.leaves, 480), d.IntN(100)
	case 6:
		return d.deeper(x)
	default:
		return x[:max(1, len(x)-1)]
	}
	return x
}

// ways is the number of combinations of filter and order.
const ways = 9

// text returns the operation and its variables.
func (d *drawing) text(x expensive) (string, graphtest.Variables) {
	ids := make([]any, 1000)
	for i := range ids {
		ids[i] = fmt.Sprintf("thing-%03d", i)
	}
	d.inVariable = true // literals alone
	values := graphtest.Variables{}
	set := "{__typename}"
	for i := len(x) - 1; i >= 0; i-- {
		set = d.asked(x[i], set, values, ids)
	}
	if len(values) == 0 {
		return "query " + set, nil
	}
	var defined []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		defined = append(defined, "$"+name+": "+map[string]string{"ids": "[ID!]", "few": "[ID!]!"}[name])
	}
	return "query(" + strings.Join(defined, ",") + ") " + set, values
}

// asked returns the selection of a level around the selection below it.
func (d *drawing) asked(l level, below string, values graphtest.Variables, ids []any) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range l.aliases {
		fmt.Fprintf(&b, " a%d: %s%s %s", i, l.field.Name, d.argumentsOf(l, i, values, ids), below)
	}
	var scalars []*ast.FieldDefinition
	for _, field := range l.of.Fields {
		if len(d.schema.Types[field.Type.Name()].Fields) == 0 && len(field.Arguments) == 0 && l.of != d.schema.Query {
			scalars = append(scalars, field)
		}
	}
	for i := range l.leaves {
		if len(scalars) > 0 {
			fmt.Fprintf(&b, " l%d: %s", i, scalars[l.leaf%len(scalars)].Name)
		}
	}
	return b.String() + "}"
}

func (d *drawing) argumentsOf(l level, i int, values graphtest.Variables, ids []any) string {
	var list []string
	add := func(format string, arguments ...any) { list = append(list, fmt.Sprintf(format, arguments...)) }
	for _, argument := range l.field.Arguments {
		switch kind := argument.Type.Name(); {
		case argument.Name == "first":
			add("first: %d", 1+(l.page-1+i)%100)
		case argument.Name == "offset" && l.way%2 == 0:
			add("offset: %d", i)
		case argument.Name == "optionIds":
			add(`optionIds: ["size-%d"]`, i)
		case argument.Type.Elem != nil && kind == "ID":
			values["few"] = ids[:100]
			add("%s: $few", argument.Name)
		case argument.Name == "name":
			add(`name: %q`, []string{"Product", "Query", "Mutation", "ProductFilter"}[i%4])
		case argument.Name == "by" && l.field.Name == "product":
			add(`by: {sku: "THING-%03d"}`, i)
		case argument.Name == "by":
			add(`by: {id: "top-1"}`)
		case argument.Name == "slug":
		case kind == "ID" && argument.Type.NonNull:
			add(`%s: %q`, argument.Name, map[string]string{"hierarchy": "tree", "catalog": "main", "file": "file-01"}[l.field.Name]+map[bool]string{true: fmt.Sprintf("thing-%03d", i)}[!slices.Contains([]string{"hierarchy", "catalog", "file"}, l.field.Name)])
		case argument.Name == "filter" && kind == "ProductFilter":
			if filter := productFilter(l.way, i, values, ids); filter != "" {
				add("filter: %s", filter)
			}
		case argument.Name == "filter" && kind == "CatalogNodeFilter" && l.way == 1:
			values["ids"] = ids
			add("filter: {ids: $ids}")
		case argument.Name == "filter" && kind == "CatalogNodeFilter" && l.way == 2:
			add(`filter: {name: {in: ["Shelf top-%d", "x"]}}`, i)
		case argument.Name == "orderBy" && l.way > 4:
			fields := d.schema.Types[d.schema.Types[kind].Fields.ForName("field").Type.Name()].EnumValues
			add("orderBy: {field: %s, direction: DESC}", fields[(l.way-5)%min(3, len(fields))].Name)
		case argument.Type.NonNull && argument.DefaultValue == nil:
			add("%s: %s", argument.Name, literal(d.value(argument.Name, argument.Type, 0)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

func productFilter(way, i int, values graphtest.Variables, ids []any) string {
	switch way {
	case 1:
		values["ids"] = ids
		return `{ids: $ids}`
	case 2, 8:
		return fmt.Sprintf(`{search: "th %c%d"}`, 'a'+rune(i%26), i%10)
	case 3:
		return fmt.Sprintf(`{tags: {in: ["tag %d", "tag %d"]}}`, i, i+1)
	case 4:
		return fmt.Sprintf(`{not: {or: [{tags: {in: ["tag %d", "tag %d"]}}, {onSale: true}]}}`, i, i+1)
	case 7:
		return fmt.Sprintf(`{or: [{price: {ge: "%d"}}, {not: {tags: {eq: "tag %d"}}}, {bounds: {id: {gt: "thing-%03d"}}}]}`, i, i, i)
	case 5:
		return fmt.Sprintf(`{bounds: {id: {gt: "thing-%03d"}}}`, i)
	case 6:
		return fmt.Sprintf(`{bounds: {updatedAt: {ge: "2001-01-01T00:00:00.%03dZ"}, id: {ge: "a%d"}}}`, i, i)
	}
	return ""
}

// shapes has operations known to be expensive, by the number of repetitions.
var shapes = map[string]func(n int) (string, graphtest.Variables){
	"descriptions": func(n int) (string, graphtest.Variables) {
		return `{products(first: 100) {nodes {` + graphtest.Many(n, ` a#: description`) + `}}}`, nil
	},
	"translations": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: products(first: 30, offset: #) {nodes {translations {locale}}}`) + `}`, nil
	},
	"texts of translations": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: product(by: {id: "thing-00#"}) {translations {name description}}`) + `}`, nil
	},
	"sitemaps": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: sitemap(first: 1000) {nodes {path kind uuid publishedAt}}`) + `}`, nil
	},
	"filters of many ids": func(n int) (string, graphtest.Variables) {
		return `query($i: [ID!]) {` + graphtest.Many(n, ` a#: products(filter: {ids: $i}) {totalCount}`) + `}`, graphtest.Variables{"i": slices.Repeat([]any{"thing-001"}, 1000)}
	},
	"nodes by many ids": func(n int) (string, graphtest.Variables) {
		return `query($i: [ID!]) {` + graphtest.Many(n, ` a#: catalogNodes(filter: {ids: $i}) {totalCount}`) + `}`, graphtest.Variables{"i": slices.Repeat([]any{"top-1"}, 1000)}
	},
	"products deep in the tree": func(n int) (string, graphtest.Variables) {
		return fmt.Sprintf(`{catalogNodes(first: %d) {nodes {children(first: 100) {nodes {children(first: 7) {nodes {products(first: 5) {nodes {%s}}}}}}}}}`, n%100+1, graphtest.ProductScalars), nil
	},
	"fields left out": func(n int) (string, graphtest.Variables) {
		return `query($a: Boolean = true, $b: Boolean = false, $c: Boolean = true, $d: Boolean = false, $e: Boolean = true) {products(first: 100) {nodes {` +
			graphtest.Many(n, ` a#: name @include(if: $a) @skip(if: $b) b#: sku @include(if: $c) @skip(if: $d) c#: slug @include(if: $e)`) + `}}}`, nil
	},
	"products beside introspection": func(n int) (string, graphtest.Variables) {
		return `{__schema {queryType {name}} products(first: 100) {nodes {` + graphtest.Many(n, ` a#: name`) + `}}}`, nil
	},
	"options beside introspection": func(n int) (string, graphtest.Variables) {
		return `{__schema {queryType {name}} products(filter: {ids: ["parent-00", "parent-01", "parent-02"]}, first: 3) {nodes {` + graphtest.Many(n, ` a#: variations {options {name uuid}}`) + `}}}`, nil
	},
	"introspection": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: __schema {types {fields {name type {name}}}}`) + `}`, nil
	},
	"types": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: __type(name: "Query") {fields {name args {name type {name ofType {name}}}}}`) + `}`, nil
	},
	"facets": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: products(first: 1, filter: {search: "th#"}) {facets {groups(keys: ["tags", "productTypes"], first: 100) {values {value toggled}}}}`) + `}`, nil
	},
	"alternatives": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: products(first: 1, filter: {or: [{price: {ge: "#"}}, {not: {tags: {eq: "tag #"}}}, {bounds: {id: {gt: "thing-#"}}}, {}, {}, {}, {}, {}, {}, {}]}) {totalCount}`) + `}`, nil
	},
	"alternatives of nodes": func(n int) (string, graphtest.Variables) {
		return `{catalogNodes(first: 100) {nodes {` + graphtest.Many(n, ` a#: products(first: 1, filter: {not: {or: [{price: {ge: "#"}}, {onSale: true}, {sku: {eq: "THING-#"}}]}}) {totalCount}`) + `}}}`, nil
	},
	"facets of nodes": func(n int) (string, graphtest.Variables) {
		return `{catalogNodes(first: 100) {nodes {` + graphtest.Many(n, ` a#: products(first: 1, filter: {tags: {eq: "tag #"}}) {facets {tags(first: 5) {value}}}`) + `}}}`, nil
	},
	"searches by price": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: products(first: 1, filter: {search: "st#"}, orderBy: {field: PRICE}) {totalCount}`) + `}`, nil
	},
	"children of children": func(n int) (string, graphtest.Variables) {
		return fmt.Sprintf(`{products(first: %d) {nodes {children {parent {children {parent {children {name}}}}}}}}`, n%100+1), nil
	},
	"what is chosen of facets": func(n int) (string, graphtest.Variables) {
		chosen := model.FacetState{}
		for i := range 90 {
			chosen = chosen.Toggle("tags", fmt.Sprintf("chosen-tag-%03d", i))
		}
		return `query($f: FacetState) {products(first: 1, facets: $f) {facets {groups(first: 100) {values {` + graphtest.Many(n, ` a#: toggled`) + `}}}}}`, graphtest.Variables{"f": chosen.String()}
	},
	"things by ids of their own": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: node(id: "thing-#") {id}`) + `}`, nil
	},
	"stock": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: stocks(first: 1, offset: #) {totalCount nodes {id}}`) + `}`, nil
	},
	"every edge": func(n int) (string, graphtest.Variables) {
		return fmt.Sprintf(`{products(first: %d) {nodes {%s}}}`, n%100+1, graphtest.ProductEdges), nil
	},
}

// The test searches for the most expensive operations that anyone may send, by hill climbing: it
// keeps each accepted change that causes more work. None may exceed the limits.
func TestMostExpensiveRequestIsBounded(t *testing.T) {
	testkit.FullTestsOnly(t, "it measures hundreds of requests; TestWorkStaysWithinFourTimesTheCost draws some")
	seed := testkit.Seed(t)
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		var worst, slowest work
		var of, slow string
		for i, w := range workers(t, e, "\n"+computingLines()) {
			d := newDrawing(t, w.Service, seed+uint64(i))
			d.Rand = rand.New(rand.NewPCG(seed, uint64(i)))
			ran := 0
			keep := func(did work, query string) bool {
				if did.status != http.StatusOK || did.cost == 0 || did.response > maxResponse {
					return false // refused, or longer than a response may be
				}
				ran++
				if did.share() > worst.share() {
					worst, of = did, query
				}
				if did.cpu > slowest.cpu {
					slowest, slow = did, query
				}
				return true
			}
			for _, of := range []map[string]func(int) (string, graphtest.Variables){shapes, computing} {
				for _, name := range slices.Sorted(maps.Keys(of)) { // as many times as is accepted
					sort.Search(480, func(n int) bool {
						query, values := of[name](n + 1)
						return !keep(w.ask(t, query, values, graphtest.PublicClient(), false), query)
					})
				}
			}
			for range testkit.QuickOrFull(6, 60) {
				best, most := d.random(), 0.
				for range 25 {
					next := d.mutate(best)
					if next.fields() > limits.Defaults().Fields {
						continue // refused as it is
					}
					query, values := d.text(next)
					did := w.ask(t, query, values, graphtest.PublicClient(), false)
					if keep(did, query) && did.share() > most {
						best, most = next, did.share()
					}
				}
			}
			t.Logf("%d requests ran", ran)
			require.Positive(t, ran)
		}
		t.Logf("the worst: %v\n%.300s", worst, of)
		t.Logf("the slowest: %v\n%.300s", slowest, slow)
		require.LessOrEqual(t, worst.share(), 1., "%v\n%.5000s", worst, of)
	})
}

// A list's filter is read once for all aliases of the fields that need it, which pay nothing for its ids.
func TestAliasesReadTheFilterOnce(t *testing.T) {
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		w := workers(t, e, "")[0]
		ids := graphtest.Variables{"i": slices.Repeat([]any{"thing-001"}, 1000)}
		for _, fields := range []string{graphtest.Many(100, ` a#: correctedTo`), `facets {` + graphtest.Many(100, ` a#: minPrice {__typename}`) + `}`,
			`facets {` + graphtest.Many(100, ` a#: groups(keys: [], first: 1) {__typename}`) + `}`, `facets {` + graphtest.Many(100, ` a#: groups(keys: ["tags"], first: 1) {__typename}`) + `}`} {
			const lists, perAlias = 6, 20 << 10 // bytes; to read the filter takes 44 kB
			did := w.ask(t, `query($i: [ID!]) {`+graphtest.Many(lists, ` a#: products(filter: {ids: $i}, first: 1) {`+fields+`}`)+`}`, ids, graphtest.PublicClient(), true)
			require.Empty(t, did.failure)
			require.Less(t, did.allocated, lists*100*perAlias, "%.120s: %v", fields, did)
		}
	})
}

// Nodes with one hierarchy or parent have one row of it, so that what is selected below it is computed once.
func TestNodeAboveManyIsOneRow(t *testing.T) {
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		w := newWorker(graphtest.Open(t, e, largeShop()))
		for _, above := range []string{"hierarchy", "parent"} {
			ask := func(n int) (least work) {
				query := fmt.Sprintf(`{catalogNodes(first: %d, filter: {parentId: "top-0"}) {nodes {%s {products(first: 30) {nodes {shopperAttributes}}}}}}`, n, above)
				least = w.ask(t, query, nil, graphtest.PublicClient(), true) // fills the caches
				for range 5 {                                                // the garbage collector empties pools, whose buffers are then counted
					if did := w.ask(t, query, nil, graphtest.PublicClient(), false); did.allocated < least.allocated {
						least = did
					}
				}
				return least
			}
			one, many := ask(1), ask(10)
			require.Empty(t, many.failure)
			require.Less(t, many.allocated, 2*one.allocated+perByte*many.response, "%s: one: %v; ten: %v", above, one, many)
		}
	})
}

// costIn returns the cost that the operation of a context has spent, and what it was charged for; 0 if it has not run.
func costIn(ctx context.Context) (cost, charged int) {
	op := opctx.From(ctx)
	if op == nil || op.Budget == nil {
		return 0, 0
	}
	return int(op.Budget.Cost()), int(op.Budget.Charged())
}
