package transport_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"portico/graph/graphtest"
	"portico/graph/limits"
	"portico/internal/auth"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// hostileSize is the size of a hostile body, in bytes.
const hostileSize = 64 << 10

// fill repeats a text up to a size, with # replaced by the number of the repetition and % by the
// next number.
func fill(size int, text string) string {
	var b strings.Builder
	for i := 0; b.Len()+len(text)+8 < size; i++ {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(text, "#", strconv.Itoa(i)), "%", strconv.Itoa(i+1)))
	}
	return b.String()
}

// hostile makes bodies of a given size that try to cause much work.
type hostile struct {
	name string
	body func(size int) string
}

// hostileDocument returns a hostile request by its document.
func hostileDocument(name string, query func(size int) string) hostile {
	return hostile{name, func(size int) string {
		wanted := size - 100
		for {
			body := graphtest.RequestBody(query(wanted), "{}")
			if len(body) <= size {
				return body
			}
			wanted = wanted * size / len(body) // quotes and line ends take two bytes
		}
	}}
}

// repeating returns a request that repeats one text between two others.
func repeating(name, before, text, after string) hostile {
	return hostileDocument(name, func(size int) string {
		return before + fill(size-len(before)-len(after), text) + after
	})
}

// nesting returns a request that nests one text.
func nesting(name, before, text, core, behind, after string) hostile {
	return hostileDocument(name, func(size int) string {
		n := (size - 300) / (len(text) + len(behind) + 4)
		return before + strings.Repeat(text, n) + core + strings.Repeat(behind, n) + after
	})
}

// hostiles returns the known kinds of hostile requests.
func hostiles() []hostile {
	list := []hostile{
		repeating("fields that conflict", `{`, ` a:stocks(first:#){totalCount}`, `}`),
		repeating("fields that conflict below", `{`, ` a:stocks(first:1){nodes{b:transactions(first:#){id}}}`, `}`),
		repeating("fields of four names", `{settings{`, ` pageLength currency locale id`, `}}`),
		repeating("fragments that conflict", `{`+graphtest.Many(400, ` ...f#`)+`}`, ` fragment f# on Query{a:stocks(first:#){totalCount}}`, ``),
		repeating("one field again and again", `{settings{`, ` pageLength`, `}}`),
		repeating("objects again and again", `{`, ` settings{pageLength currency}`, `}`),
		repeating("inline fragments", `{`, ` ...{settings{pageLength}}`, `}`),
		repeating("aliases of pages", `{`, ` a#:products(first:100){nodes{id name sku slug description}}`, `}`),
		repeating("aliases of a few pages", `{`, ` a#:products(first:100){nodes{`+graphtest.ProductScalars+`}}`, `}`),
		repeating("aliases of a product", `{`, ` a#:product(by:{sku:"ANVIL"}){`+graphtest.ProductEdges+`}`, `}`),
		repeating("aliases within a page", `{products(first:100){nodes{`, ` a#:name`, `}}}`),
		repeating("aliases of nothing", `{`, ` a#:__typename`, `}`),
		repeating("long aliases", `{`, ` a#`+strings.Repeat("x", 80)+`:settings{id}`, `}`),
		repeating("very long aliases", `{products(first:100){nodes{`, ` a#`+strings.Repeat("x", 4000)+`:id`, `}}}`),
		repeating("names one after the other", `{a:`, `x`, `}`),
		repeating("introspection by aliases", `{`, ` a#:__schema{types{name fields{name}}}`, `}`),
		repeating("introspection of types", `{`, ` a#:__type(name:"Product"){fields{name type{name ofType{name}}}}`, `}`),
		repeating("introspection in full", `{`, ` a#:__schema{types{name description fields{name description args{name description type{name ofType{name}}} type{name ofType{name ofType{name}}}}}}`, `}`),
		repeating("wide introspection", `{__schema{types{fields{`, ` a#:description`, `}}}}`),
		repeating("introspection by a fragment", `{`+graphtest.Many(150, ` a#:__schema{...t}`)+`} fragment t on __Schema{types{name fields{name}}} fragment u on Query{`, ` __typename`, `}`),
		repeating("directives", `{settings{`, ` pageLength@include(if:true)@skip(if:false)`, `}}`),
		repeating("directives of one field", `{settings{pageLength`, ` @include(if:true)`, `}}`),
		repeating("unknown directives", `{settings{`, ` pageLength@no#`, `}}`),
		repeating("unknown fields", `{`, ` no#`, `}`),
		repeating("nearly known fields", `{products{nodes{`, ` nam#`, `}}}`),
		repeating("unknown arguments", `{settings(`, ` no#:1`, `){id}}`),
		repeating("unknown types", `{`, ` ...on No#{id}`, `}`),
		repeating("unknown fragments", `{`, ` ...no#`, `}`),
		repeating("unknown enum values", `{`, ` a#:products(orderBy:{field:NAM#}){totalCount}`, `}`),
		repeating("unknown members", `{products(filter:{`, ` nam#:{eq:""}`, `}){totalCount}}`),
		repeating("unused variables", `query(`, ` $v#:Int`, `){settings{id}}`),
		repeating("undefined variables", `{`, ` a#:products(first:$v#){totalCount}`, `}`),
		repeating("unused fragments", `{settings{id}}`, ` fragment f# on Settings{id}`, ``),
		repeating("fragments in a chain", `{...f0}`, ` fragment f# on Query{...f%}`, ` fragment fx on Query{__typename}`),
		repeating("fragments in a circle", `{...f0}`, ` fragment f# on Query{...f% ...f0}`, ``),
		repeating("fragments that double", `{...f0}`, ` fragment f# on Query{...f% ...f%}`, ` fragment fx on Query{__typename}`),
		repeating("fragments that know each other", `{...f0}`+graphtest.Many(60, ` fragment f# on Query{`+graphtest.Many(60, ` ...f#`)+`}`), ` fragment g# on Query{...f0}`, ``),
		repeating("operations", ``, ` query q#{settings{id}}`, ``),
		repeating("anonymous operations", ``, ` {settings{id}}`, ``),
		repeating("operations over a fragment", `fragment f on Query{`+graphtest.Many(100, ` a#:__typename`)+`}`, ` query q#{...f}`, ``),
		repeating("values", `{nodes(ids:[`, ` "a"`, `]){id}}`),
		repeating("lists", `{nodes(ids:[`, ` [] {}`, `]){id}}`),
		repeating("numbers", `{products(first:`, `9`, `){totalCount}}`),
		repeating("comments", `{settings{id}}`, "#\n", ``),
		repeating("commas", `{settings{id}}`, `,,,,`, ``),
		repeating("text", `{product(by:{sku:"`, `x`, `"}){id}}`),
		repeating("a block of text", `{product(by:{sku:"""`, `x `, `"""}){id}}`),
		repeating("the same long text", `query($s:String="`+strings.Repeat("x", 30_000)+`"){`, ` a#:product(by:{sku:$s}){id}`, `}`),
		repeating("rubbish", ``, `}{)(`, ``),
		nesting("fields", ``, `{catalogNodes{nodes`, `{id}`, `}}`, ``),
		nesting("relations", `{products(first:100){nodes{id`, ` parent{children{`, `id`, `}}`, `}}}`),
		nesting("fragments", ``, `{...`, `{settings{id}}`, `}`, ``),
		nesting("lists", `{nodes(ids:`, `[`, ``, `]`, `){id}}`),
		nesting("inputs", `{products(filter:`, `{and:`, `{}`, `}`, `){totalCount}}`),
		nesting("types of variables", `query($v:`, `[`, `Int`, `]`, `){settings{id}}`),
		nesting("types of types", `{__schema{types`, `{ofType`, `{name}`, `}`, `}}`),
		nesting("fields of types", `{__schema{types`, `{fields{type`, `{name}`, `}}`, `}}`),
		{"a list of ids by many aliases", func(size int) string {
			return graphtest.RequestBody(`query($i:[ID!]!){`+fill(size/4, ` a#:nodes(ids:$i){id}`)+`}`, `{"i":["a"`+fill(size/2, `,"a"`)+`]}`)
		}},
		{"a filter by many aliases", func(size int) string {
			return graphtest.RequestBody(`query($f:ProductFilter){`+fill(size/4, ` a#:products(filter:$f){totalCount}`)+`}`, `{"f":{"and":[{}`+fill(size/2, `,{}`)+`]}}`)
		}},
		{"a long text by many aliases", func(size int) string {
			return graphtest.RequestBody(`query($s:ID!){`+fill(size/4, ` a#:node(id:$s){id}`)+`}`, `{"s":"`+strings.Repeat("x", size/2)+`"}`)
		}},
		{"unknown members of a variable", func(size int) string {
			return graphtest.RequestBody(`query($f:ProductFilter){products(filter:$f){totalCount}}`, `{"f":{"x":1`+fill(size-200, `,"x#":1`)+`}}`)
		}},
		{"wrong members of a variable", func(size int) string {
			return graphtest.RequestBody(`query($f:ProductFilter){products(filter:$f){totalCount}}`, `{"f":{"and":[{}`+fill(size-200, `,{"sku":5}`)+`]}}`)
		}},
		{"a deep variable", func(size int) string {
			return graphtest.RequestBody(`query($f:ProductFilter){products(filter:$f){totalCount}}`, `{"f":`+graphtest.Nested(size/10, `{"and":`, `{}`, `}`)+`}`)
		}},
		{"a deeper member that nobody reads", func(size int) string {
			return `{"query":"{settings{id}}","x":` + graphtest.Nested(size/2-50, `[`, ``, `]`) + `}`
		}},
		{"one member again and again", func(size int) string {
			return `{"query":"{settings{id}}"` + fill(size-50, `,"variables":{"a":[]}`) + `}`
		}},
		{"headers of its own", func(size int) string {
			return `{"query":"{settings{id}}","headers":{"A":[]` + fill(size-100, `,"H#":["x"]`) + `}}`
		}},
		{"escapes", func(size int) string { return `{"query":"` + fill(size-20, `\u0001`) + `"}` }},
	}
	for seed := range uint64(20) {
		list = append(list, hostileDocument(fmt.Sprint("soup ", seed), func(size int) string { return soup(rand.New(rand.NewPCG(seed, 1)), size) }))
	}
	return list
}

// soup returns a document of random parts that are almost valid.
func soup(r *rand.Rand, size int) string {
	parts := []string{"{", "}", "(", ")", "[", "]", "...", "...on Product{", "a:", "@skip(if:true)", "@no", "$v", `"x"`, "5", "null",
		" products(first:100){nodes{", " id ", " name ", " stocks(first:1){totalCount} ", " ...f ", " fragment f on Query{", " query q(", "$v:Int", "){",
		" __schema{types{name}} ", " __typename ", " parent{", " children{", "filter:{", "and:["}
	var b strings.Builder
	b.WriteString("{")
	for b.Len() < size {
		b.WriteString(parts[r.IntN(len(parts))])
		if r.IntN(4) == 0 {
			b.WriteString("} ")
		}
	}
	return b.String()
}

// effort is the work for a request, and its response.
type effort struct {
	allocated uint64
	answer    *httptest.ResponseRecorder
}

// measured sends a body and measures the work. It must not run in parallel with anything.
func measured(t *testing.T, s *graphtest.Service, body string, p *auth.Principal) effort {
	t.Helper()
	r := graphtest.As(graphtest.NewRaw(t, body), p)
	answer := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Handler.ServeHTTP(answer, r)
	runtime.ReadMemStats(&after)
	return effort{after.TotalAlloc - before.TotalAlloc, answer}
}

const (
	maxEffort = 32 << 20 // bytes allocated for a stranger's body
	maxAnswer = 64 << 10 // bytes of what a stranger without a token is told
	maxSteps  = 60_000   // selections and values that validation reads
)

// Any body of 64 kB causes little work and a small response. The test counts bytes and steps, so
// it does not run in parallel with others.
func TestHostileBodiesCostLittle(t *testing.T) {
	shop := graphtest.BigShop(t)
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, shop)
		measured(t, s, graphtest.RequestBody(`{products(first:100){nodes{`+graphtest.ProductEdges+`}}}`, "{}"), graphtest.Admin()) // what is read once
		for _, h := range hostiles() {
			t.Run(h.name, func(t *testing.T) {
				body := h.body(hostileSize)
				require.LessOrEqual(t, len(body), hostileSize)
				nobody := measured(t, s, body, nil)
				require.Less(t, nobody.allocated, uint64(maxEffort), "bytes allocated for nobody: %.200s", nobody.answer.Body)
				require.Less(t, nobody.answer.Body.Len(), maxAnswer)
				requireFewErrors(t, nobody.answer)
				anyone := measured(t, s, body, graphtest.PublicClient())
				require.Less(t, anyone.allocated, uint64(2*maxEffort), "bytes allocated for anyone: %.200s", anyone.answer.Body)
				requireFewErrors(t, anyone.answer)
				require.LessOrEqual(t, stepsOf(graphtest.Schema(), queryOf(body), limits.Defaults()), maxSteps, "steps of validation")
			})
		}
	})
}

// stepsOf counts what validation reads of a document that is within the limits; 0 for another.
func stepsOf(schema *ast.Schema, query string, bounds limits.Config) (steps int) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, bounds.Tokens)
	if err != nil || limits.CheckDocument(document, bounds) != nil {
		return 0
	}
	observers := &core.Events{}
	observers.OnField(func(*core.Walker, *ast.Field) { steps++ })
	observers.OnInlineFragment(func(*core.Walker, *ast.InlineFragment) { steps++ })
	observers.OnFragmentSpread(func(*core.Walker, *ast.FragmentSpread) { steps++ })
	observers.OnDirective(func(*core.Walker, *ast.Directive) { steps++ })
	observers.OnValue(func(*core.Walker, *ast.Value) { steps++ })
	core.Walk(schema, document, observers)
	return steps
}

// queryOf returns the document of a body; "" if it has none.
func queryOf(body string) string {
	var sent struct{ Query string }
	_ = json.Unmarshal([]byte(body), &sent)
	return sent.Query
}

// requireFewErrors requires at most 20 errors of at most 32 kB.
func requireFewErrors(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code == http.StatusOK || w.Code == http.StatusBadRequest {
		var a struct{ Errors []json.RawMessage }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
		require.LessOrEqual(t, len(a.Errors), 20)
		total := 0
		for _, e := range a.Errors {
			total += len(e)
		}
		require.LessOrEqual(t, total, 32<<10)
	}
}

// Without the limits some bodies cost too much, which shows that the test above measures them.
func TestHostileBodiesCostMuchWithoutLimits(t *testing.T) {
	testkit.FullTestsOnly(t, "it shows that the bounds are needed, not that they hold")
	const none = 1 << 40
	lifted := limits.Config{Bytes: none, Tokens: none, Depth: none, Name: none, Fields: none, RootFields: none, Aliases: none, Repeats: none,
		Operations: none, Fragments: none, Variables: none, Directives: none, Steps: none, Cost: none, ResponseBytes: none, Values: none, Nesting: none}
	shop := graphtest.BigShop(t)
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.ServeWithLimits(graphtest.Open(t, e, shop), lifted)
		for _, h := range hostiles() {
			switch h.name {
			case "aliases of pages":
				require.Greater(t, measured(t, s, h.body(40<<10), graphtest.PublicClient()).allocated, uint64(2*maxEffort), h.name)
			case "introspection by aliases":
				require.Greater(t, measured(t, s, h.body(3<<10), graphtest.PublicClient()).allocated, uint64(2*maxEffort), h.name)
			case "a list of ids by many aliases":
				require.Greater(t, measured(t, s, h.body(20<<10), graphtest.PublicClient()).allocated, uint64(maxEffort), h.name)
			case "very long aliases":
				require.Greater(t, measured(t, s, h.body(20<<10), graphtest.PublicClient()).answer.Body.Len(), 1<<20, h.name)
			case "fragments in a chain", "operations over a fragment":
				require.Greater(t, stepsOf(graphtest.Schema(), queryOf(h.body(20<<10)), lifted), maxSteps/2, h.name)
			}
		}
	})
}
