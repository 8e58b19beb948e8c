package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// BenchmarkSearch measures first requests for a page of 25 products of a search by relevance, in a shop of
// 100,000 products (PORTICO_BENCH_PRODUCTS) whose texts have about 60,000 words, by frequency as in a
// language. The release is in memory, results are not: each request adds other function words, which
// searches leave out. go test ./store/release -run - -bench Search -benchtime 300x -benchmem
func BenchmarkSearch(b *testing.B) {
	products, _ := strconv.Atoi(os.Getenv("PORTICO_BENCH_PRODUCTS"))
	if products == 0 {
		products = 100_000
	}
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		if backend.Name != "sqlite" {
			b.Skip("the release is in memory")
		}
		benchmarkSearches(b, backend.Open(b), products)
	})
}

func benchmarkSearches(b *testing.B, s *shop.Store, products int) {
	words := benchmarkWords(60_000)
	storetest.Import(b, s, benchmarkShop(products, words))
	storetest.Publish(b, s, "main")
	v := storetest.View(b, s, release.ShopperContext{})
	common, middle, rare := words[20], words[600], words[20_000]
	for _, c := range []struct{ name, text string }{
		{"common word", common}, {"word", middle}, {"rare word", rare}, {"two words", middle + " " + common},
		{"three words", common + " " + words[40] + " " + words[80]},
		{"one letter", middle[:1]}, {"two letters", middle[:2]}, {"three letters", middle[:3]}, {"SKU", "SKU-0012345-P"}, {"unknown SKU", "SKU-0012345-Z"}, {"SKU prefix", "SKU-0012"},
		{"typo", middle[:2] + middle[3:]}, {"two typos", rare[:1] + rare[2:4] + rare[5:]}, {"joined", middle + words[700]}, {"split", middle[:3] + " " + middle[3:]},
	} {
		b.Run(c.name, func(b *testing.B) {
			variant := 0
			run := func() int {
				variant++
				total, err := searchPage(b.Context(), v, functionWords(variant)+c.text)
				require.NoError(b, err)
				return total
			}
			total := run()
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "CPU-µs/op")
			b.ReportMetric(float64(total), "found")
		})
	}
}

// cpuTime returns the CPU time of the process so far.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func searchPage(ctx context.Context, v *release.View, text string) (int, error) {
	search, err := index.NewSearch(text)
	if err != nil {
		return 0, err
	}
	slice, err := v.Products(ctx, release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortRelevance}})
	if err != nil {
		return 0, err
	}
	return slice.Total(ctx)
}

// functionWords returns different function words for each number.
func functionWords(number int) string {
	var b strings.Builder
	for i, word := range strings.Fields("the of and to in is on at by for from with that this") {
		if number>>i&1 == 1 {
			b.WriteString(word + " ")
		}
	}
	return b.String()
}

// benchmarkWords returns different words of five to twelve letters.
func benchmarkWords(n int) (words []string) {
	random := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("ba be bi bo bra ca ce cho co cre da de di dro du fa fe flo fo ga ge gra ha he ho ja ka ke kra la le li lo lu ma me mi mo na ne ni no pa pe pla po ra re ri ro sa se shi so sta ta te ti to tra va ve vi wa we zo")
	seen := map[string]bool{}
	for len(words) < n {
		word := ""
		for range 2 + random.IntN(3) {
			word += syllables[random.IntN(len(syllables))]
		}
		if word += string("nrstlmkx"[random.IntN(8)]); len(word) >= 5 && !seen[word] {
			seen[word], words = true, append(words, word)
		}
	}
	return words
}

// benchmarkShop returns products with names of two to five words, descriptions of 15 and a SKU.
func benchmarkShop(products int, words []string) string {
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.05, 8, uint64(len(words)-1))
	text := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = words[zipf.Uint64()]
		}
		return strings.Join(list, " ")
	}
	var lines strings.Builder
	lines.WriteString(`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}` + "\n" + `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}` + "\n")
	var refs []map[string]string
	for i := range products {
		id := fmt.Sprintf("p%07d", i)
		fmt.Fprintf(&lines, `{"type":"product","id":%q,"attributes":{"name":%q,"description":%q,"sku":"SKU-%07d-%c","slug":%q,"status":"live","created_at":"2024-01-01T00:00:00Z"},"relationships":{}}`+"\n",
			id, text(2+random.IntN(4)), text(15), i, 'P'+i%5, id)
		refs = append(refs, map[string]string{"type": "product", "id": id})
	}
	list, err := json.Marshal(refs)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(&lines, `{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":%s}}}`+"\n", list)
	return lines.String()
}
