package executor_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const (
	vocabulary  = 4000 // words in the texts of the shop
	cartLines   = 100
	bundleParts = 100 // of a promotion, as many as it may have
)

// word returns a word of the shop's texts.
func word(i int) string {
	const syllables = "batedomifaluroniseku"
	var b strings.Builder
	for range 4 {
		b.WriteString(syllables[i%10*2 : i%10*2+2])
		i /= 10
	}
	return b.String()
}

// mistyped returns a word of the shop with two letters swapped, another one for each number.
func mistyped(i int) string {
	text := []byte(word(i % vocabulary))
	at := i / vocabulary % 7
	text[at], text[at+1] = text[at+1], text[at]
	return string(text)
}

// computingLines are products with many words, and promotions whose bundles and gifts compete for the units of a cart, for a
// shop with the hierarchy and the price book of largeShop.
func computingLines() string {
	var lines []string
	add := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	var products, skus []string
	for i := range cartLines {
		words := make([]string, vocabulary/cartLines)
		for k := range words {
			words[k] = word(i*len(words) + k)
		}
		add(`{"type":"product","id":"wordy-%02d","attributes":{"name":"Wordy %d","sku":"WORDY-%02d","slug":"wordy-%02d","status":"live","description":%q,"commodity_type":"physical","created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"}}`,
			i, i, i, i, strings.Join(words, " "))
		add(`{"type":"product-price","id":"wordy-price-%02d","attributes":{"sku":"WORDY-%02d","currencies":{"USD":{"amount":%d,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}`, i, i, 1000+i)
		products, skus = append(products, fmt.Sprintf(`{"type":"product","id":"wordy-%02d"}`, i)), append(skus, fmt.Sprintf(`"WORDY-%02d"`, i))
	}
	parts := slices.Repeat([]string{`{"targets":"all","quantity":1}`}, bundleParts)
	for i := range 4 {
		add(`{"type":"promotion","id":"gifts-%d","name":"Gifts","description":"","promotion_type":"bundle_gift","enabled":true,"automatic":true,"start":"2024-01-01","end":"2100-01-01","schema":{"requirements":[%s],"gifts":[%s]}}`,
			i, strings.Join(parts, ","), strings.Join(skus, ","))
	}
	lines = append(lines, bundlesOfParts(20))
	add(`{"type":"node","id":"wordy","attributes":{"name":"Wordy"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"tree"}},"products":{"data":[%s]}}}`, strings.Join(products, ","))
	return strings.Join(lines, "\n")
}

// bundlesOfParts are automatic promotions with as many parts as they may have, of one wordy product each.
func bundlesOfParts(n int) string {
	parts := make([]string, bundleParts)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"targets":["WORDY-%02d"],"quantity":1}`, i)
	}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"type":"promotion","id":"parts-%03d","name":"Parts","description":"","promotion_type":"bundle_fixed_discount","enabled":true,"automatic":true,"start":"2024-01-01","end":"2090-01-01","schema":{"requirements":[%s],"currencies":[{"currency":"USD","amount":100}]}}`, i, strings.Join(parts, ","))
	}
	return strings.Join(lines, "\n")
}

// computingShop is a shop with nothing else.
func computingShop() string {
	return `{"type":"hierarchy","id":"tree","attributes":{"name":"Tree"}}
{"type":"pricebook","id":"list","attributes":{"name":"List"}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["tree"],"pricebook_ids":[{"id":"list","priority":1}],"created_at":"2023-02-01T00:00:00.000Z"}}
` + computingLines()
}

// computing has operations whose work is more computation than reading, by the number of repetitions.
var computing = map[string]func(n int) (string, graphtest.Variables){
	"mistyped words": func(n int) (string, graphtest.Variables) {
		return searches(n, func(alias, i int) string { return mistyped(alias*20 + i) }), nil
	},
	"carts with bundles": func(n int) (string, graphtest.Variables) {
		return `query($l: [CartLineInput!]!) {` + graphtest.Many(n, ` a#: cartPreview(lines: $l) {total {amount}}`) + `}`, fullCart()
	},
	"carts over promotions with many parts": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: cartPreview(lines: [{productId: "wordy-00", quantity: 1}]) {total {amount}}`) + `}`, nil
	},
	"promotions of products": func(n int) (string, graphtest.Variables) {
		return `{` + graphtest.Many(n, ` a#: product(by: {id: "wordy-00"}) {promotions {name}}`) + `}`, nil
	},
}

// searches returns an operation of n searches for twenty words each.
func searches(n int, words func(alias, i int) string) string {
	var b strings.Builder
	for alias := range n {
		text := make([]string, 20)
		for i := range text {
			text[i] = words(alias, i)
		}
		fmt.Fprintf(&b, " a%d: products(first: 1, filter: {search: %q}) {totalCount}", alias, strings.Join(text, " "))
	}
	return "{" + b.String() + "}"
}

// fullCart has a line of each wordy product, with so many units that bundles and gifts compete for the last ones.
func fullCart() graphtest.Variables {
	var lines []any
	for i := range cartLines {
		lines = append(lines, map[string]any{"productId": fmt.Sprintf("wordy-%02d", i), "quantity": 2 + i%3})
	}
	return graphtest.Variables{"l": lines}
}

// The test draws operations whose work is computation: searches for mistyped words, carts and products over as many promotions with
// many parts as take part in a cart, and sitemaps. An operation runs whole only up to a number of them that takes 0.1 s of CPU, and one
// that is refused takes no more.
func TestCostFollowsWork(t *testing.T) {
	seed := testkit.Seed(t)
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		draw := rand.New(rand.NewPCG(seed, 0))
		w := newWorker(graphtest.Open(t, e, computingShop()+"\n"+strings.ReplaceAll(bundlesOfParts(201), "parts-", "more-")))
		words := 0 // that were searched before, and need no correction again
		for _, c := range []struct {
			name  string
			shape func(n int) (string, graphtest.Variables)
			most  int // that run whole
		}{
			{"mistyped words", func(n int) (string, graphtest.Variables) {
				words += 20 * n
				return searches(n, func(alias, i int) string { return mistyped(words - 20*n + alias*20 + i) }), nil
			}, 30},
			{"carts with bundles", computing["carts with bundles"], 1},
			{"carts over promotions with many parts", computing["carts over promotions with many parts"], 4},
			{"promotions of products", computing["promotions of products"], 5},
			{"active promotions", func(n int) (string, graphtest.Variables) {
				return `{` + graphtest.Many(n, ` a#: activePromotions(first: 1) {name}`) + `}`, nil
			}, 5},
			{"sitemaps", shapes["sitemaps"], 14},
		} {
			var slowest work
			for i := range testkit.QuickOrFull(4, 20) {
				n := c.most + 1
				if i > 0 {
					n = 1 + draw.IntN(4*c.most)
				}
				query, values := c.shape(n)
				did := w.ask(t, query, values, graphtest.PublicClient(), false)
				if did.cpu > slowest.cpu {
					slowest = did
				}
				if n > c.most {
					require.Contains(t, did.failure, "may cost 60,000", "%d %s: %v", n, c.name, did)
				}
				require.Less(t, did.charged, maxCharged*5/4, "%d %s", n, c.name)
				require.Less(t, did.allocated, maxWork, "%d %s: %v", n, c.name, did)
			}
			t.Logf("%s: the slowest: %v", c.name, slowest)
		}
	})
}

// Each loop that computes counts its steps in the operation's budget, and ends soon after that is spent.
func TestComputingIsCharged(t *testing.T) {
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		w := newWorker(graphtest.Open(t, e, computingShop()))
		for _, name := range slices.Sorted(maps.Keys(computing)) {
			ask := func(n int) work {
				query, values := computing[name](n)
				return w.ask(t, query, values, graphtest.PublicClient(), false)
			}
			// The estimate accepts so many.
			few, many := ask(1), ask(map[string]int{"mistyped words": 110, "carts with bundles": 20, "carts over promotions with many parts": 40, "promotions of products": 40}[name])
			t.Logf("%s: once: %v; too often: %v", name, few, many)
			require.Empty(t, few.failure, name)
			require.Contains(t, many.failure, "may cost 60,000", name)
			require.Greater(t, many.charged, maxCharged*3/4, "%s: its steps are what it pays for", name)
			require.Less(t, many.charged, maxCharged*5/4, "%s: it ends when they are spent", name)
		}
		// Words that were corrected before are not corrected again, in whatever search they are.
		draw := rand.New(rand.NewPCG(1, 1))
		first := w.ask(t, searches(1, func(_, i int) string { return mistyped(7000 + i) }), nil, graphtest.PublicClient(), false)
		again := w.ask(t, searches(180, func(_, i int) string { return mistyped(7000 + draw.IntN(20)) }), nil, graphtest.PublicClient(), false)
		require.Empty(t, again.failure)
		require.Less(t, again.charged, 180*first.charged/4, "%v, then %v", first, again)
	})
}
