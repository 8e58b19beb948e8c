package audit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const (
	mostSingle = 1000 // resources of an import that are recorded one by one
	codeKind   = string(store.AuditPromotionCode)
)

// recordedImport is what the feed has of an import.
type recordedImport struct {
	named    map[string]bool              // kinds and ids
	single   map[string]*store.AuditEvent // by kind and id
	together map[string]store.AuditAction // by kind and id
	counted  map[string]int               // by kind, without ids
}

// all returns the kinds and ids of both sorts of events, in order.
func (r *recordedImport) all() []string {
	return slices.Sorted(maps.Keys(r.named))
}

// importAndRead imports a file, and reads its events from the feed. No event must name a resource that another has.
func importAndRead(t *testing.T, s *shop.Store, text string, batch int) *recordedImport {
	t.Helper()
	before, err := s.Audit.Changes(t.Context(), 1, "")
	require.NoError(t, err)
	_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), exchange.ImportOptions{Batch: batch, Stock: true, Settings: true})
	require.NoError(t, err)
	r := &recordedImport{map[string]bool{}, map[string]*store.AuditEvent{}, map[string]store.AuditAction{}, map[string]int{}}
	for after, more := before.Latest, true; more; {
		page, err := s.Audit.Changes(t.Context(), 100, after)
		require.NoError(t, err)
		for i, event := range page.Events {
			after = page.Cursor(i)
			r.add(t, event)
		}
		more = page.HasNext
	}
	return r
}

func (r *recordedImport) add(t *testing.T, event *store.AuditEvent) {
	t.Helper()
	switch {
	case event.ResourceID != "":
		key := string(event.Kind) + " " + event.ResourceID
		require.NotContains(t, r.named, key)
		require.NotEmpty(t, event.Members, key)
		r.named[key], r.single[key] = true, event
	case len(event.IDs) == 0:
		r.counted[string(event.Kind)] += event.Count
	default:
		require.LessOrEqual(t, len(event.IDs), store.MaxAuditIDs)
		require.Len(t, event.IDs, event.Count)
		require.Empty(t, event.Members)
		for _, id := range event.IDs {
			key := string(event.Kind) + " " + id
			require.NotContains(t, r.named, key)
			r.named[key], r.together[key] = true, event.Action
		}
	}
}

func fileLine(id, version string) string {
	return fmt.Sprintf(`{"type":"file","id":%q,"file_name":"%s.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/a.jpg"},"meta":{"timestamps":{"created_at":"2023-01-01T00:00:00.000Z"}}}`, id, version)
}

func pricebookLine(id, version string) string {
	return fmt.Sprintf(`{"type":"pricebook","id":%q,"attributes":{"name":%q}}`, id, version)
}

func productLine(id, version string) string {
	return fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%q,"sku":%[1]q,"slug":%[1]q,"status":"live","created_at":"2026-01-01T00:00:00.000Z"}}`, id, version)
}

// numbered returns a file of lines, whose versions are those of their numbers; none if the version is empty.
func numbered(n int, line func(id, version string) string, version func(i int) string) string {
	var lines []string
	for i := range n {
		if version := version(i); version != "" {
			lines = append(lines, line(fmt.Sprintf("r%04d", i), version))
		}
	}
	return storetest.JoinLines(lines...)
}

func always(version string) func(int) string { return func(int) string { return version } }

// An import records up to 1,000 resources that changed one by one, and the others together, whatever its batches are.
func TestImportsRecordWhatChanged(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := e.Open(t)
		before := exportedLines(t, s)
		fewOfMany := func(i int) string {
			if i%900 == 30 {
				return "b"
			}
			return "a"
		}
		mixed := func(i int) string {
			switch {
			case i < 3300 && i%5 == 0:
				return "c"
			case i < 3300:
				return fewOfMany(i)
			}
			return "new"
		}
		for _, x := range []struct {
			name                     string
			text                     string
			batch                    int
			created, updated, others int
		}{
			{"new products", numbered(1500, productLine, always("a")), 0, 1000, 0, 500},
			{"the same again", numbered(1500, productLine, always("a")), 0, 0, 0, 0},
			{"changed products in one batch", numbered(1500, productLine, always("b")), 0, 0, 1000, 500},
			{"changed products in several batches", numbered(1500, productLine, always("c")), 400, 0, 1000, 500},
			{"few products of many", numbered(1500, productLine, func(i int) string { return string(rune('c' + i%300/299)) }), 0, 0, 5, 0},
			{"new price books", numbered(3300, pricebookLine, always("a")), 0, 1000, 0, 2300},
			{"few price books of many", numbered(3300, pricebookLine, fewOfMany), 0, 0, 4, 0},
			{"price books of all sorts", numbered(4000, pricebookLine, mixed), 1000, 340, 660, 360},
			{"two types in one batch", numbered(700, fileLine, always("a")) + numbered(700, pricebookLine, always("d")), 0, 700, 300, 400},
		} {
			r := importAndRead(t, s, x.text, x.batch)
			after := exportedLines(t, s)
			require.Equal(t, changedLines(before, after), r.all(), x.name)
			got := map[store.AuditAction]int{}
			for key, event := range r.single {
				got[event.Action]++
				require.Equal(t, before[key] == "", event.Action == store.AuditCreated, "%s: %s", x.name, key)
			}
			before = after
			require.Equal(t, [3]int{x.created, x.updated, x.others}, [3]int{got[store.AuditCreated], got[store.AuditUpdated], len(r.together)}, x.name)
		}
	})
}

// exportedLines returns the lines of a store by kind and id.
func exportedLines(t *testing.T, s *shop.Store) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(storetest.Export(t, s)), "\n") {
		var key struct{ Type, ID, Slug string }
		require.NoError(t, json.Unmarshal([]byte(line), &key))
		id := key.ID
		switch key.Type {
		case "settings":
			id = "settings"
		case "gateway":
			id = key.Slug
		}
		lines[key.Type+" "+id] = line
	}
	return lines
}

// changedLines returns the keys of lines that differ, in order.
func changedLines(before, after map[string]string) []string {
	changed := map[string]bool{}
	for key, line := range before {
		changed[key] = after[key] != line
	}
	for key, line := range after {
		changed[key] = before[key] != line
	}
	maps.DeleteFunc(changed, func(key string, changed bool) bool {
		return !changed || strings.HasPrefix(key, "stock_transaction ") // the ledger of stock, which is not repeated
	})
	return slices.Sorted(maps.Keys(changed))
}

// someKinds are lines of resources by kind: $n is a number, $v a version, $products are some products.
var someKinds = map[string]string{
	"attribute":      `{"type":"attribute","id":"a$n","attributes":{"label":"A$v","attribute_type":"text"}}`,
	"catalog_rule":   `{"type":"catalog_rule","id":"r$n","attributes":{"name":"R$v","catalog_id":"main"}}`,
	"file":           `{"type":"file","id":"f$n","file_name":"f$v.jpg","link":{"href":"https://example.com/f.jpg"}}`,
	"node":           `{"type":"node","id":"n$n","attributes":{"name":"N$v"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"tree"}},"products":{"data":[$products]}}}`,
	"price_modifier": `{"type":"price_modifier","id":"m$n","attributes":{"name":"m$n-$v","modifier_type":"price_equals"}}`,
	"product":        `{"type":"product","id":"p$n","attributes":{"name":"P$v","sku":"P$n","slug":"p$n","status":"live"}}`,
	"product-price":  `{"type":"product-price","id":"c$n","attributes":{"sku":"P$n","currencies":{"USD":{"amount":1$v}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}`,
	"promotion":      `{"type":"promotion","id":"o$n","name":"O$v","description":"","promotion_type":"percent_discount","enabled":true,"start":"2026-01-01","end":"2035-01-01","schema":{"percent":10}}`,
	"promotion_code": `{"type":"promotion_code","id":"d$n","promotion_id":"always","code":"CODE-$n","max_uses":1$v,"uses":5}`,
	"redirect":       `{"type":"redirect","id":"e$n","attributes":{"from":"from-$n","to":"to-$v"}}`,
	"synonym":        `{"type":"synonym","id":"s$n","attributes":{"kind":"equivalent","terms":["mug$n","cup$v"]}}`,

	// These cannot be deleted here.
	"api_client": `{"type":"api_client","id":"y$n","name":"Y$v","scopes":["catalog:read"],"created_at":"2026-01-01T00:00:00Z"}`,
	"catalog":    `{"type":"catalog","id":"z$n","attributes":{"name":"Z$v"}}`,
	"gateway":    `{"type":"gateway","slug":"manual","name":"G$v"}`,
	"hierarchy":  `{"type":"hierarchy","id":"h$n","attributes":{"name":"H$v"}}`,
	"pricebook":  `{"type":"pricebook","id":"b$n","attributes":{"name":"B$v"}}`,
	"settings":   `{"type":"settings","page_length":2$v,"currency":"USD","locale":"en"}`,
	"stock":      `{"type":"stock","id":"p$n","available":1$v,"allocated":0,"total":1$v}`,
}

var deletedHere = []string{"attribute", "catalog_rule", "file", "node", "price_modifier", "product", "product-price", "promotion", "promotion_code", "redirect", "synonym"}

// randomFile returns lines of all kinds, some of which change what a store has, and deletions.
func randomFile(random *rand.Rand, stored map[string]string) string {
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(someKinds)) {
		for n := range 4 {
			var products []string
			for _, p := range random.Perm(4)[:random.IntN(4)] {
				products = append(products, fmt.Sprintf(`{"type":"product","id":"p%d"}`, p))
			}
			line := strings.NewReplacer("$n", fmt.Sprint(n), "$v", fmt.Sprint(random.IntN(3)), "$products", strings.Join(products, ",")).Replace(someKinds[kind])
			if n > 0 && !strings.Contains(someKinds[kind], "$n") {
				break // there is one
			}
			var key struct{ ID string }
			_ = json.Unmarshal([]byte(line), &key)
			_, exists := stored[kind+" "+key.ID]
			switch choice := random.IntN(6); {
			case choice == 0 && exists && slices.Contains(deletedHere, kind):
				lines = append(lines, fmt.Sprintf(`{"type":%q,"id":%q,"deleted":true}`, kind, key.ID))
			case choice < 5:
				lines = append(lines, line)
			}
		}
	}
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return storetest.JoinLines(lines...)
}

// The events of an import name exactly the resources whose lines it changed, of every kind, also when most of the limit
// is used up.
func TestEventsNameExactlyWhatChanged(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		random := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		s := e.Open(t)
		storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"tree","attributes":{"name":"Tree"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main"}}`,
			`{"type":"pricebook","id":"list","attributes":{"name":"List"}}`, storetest.PromotionLine("always", ``)))
		for step := range testkit.QuickOrFull(8, 40) {
			before := exportedLines(t, s)
			text := randomFile(random, before)
			if step%4 == 2 { // leaves room for few
				text = numbered(mostSingle-random.IntN(20), fileLine, always(fmt.Sprint(step))) + text
			}
			r := importAndRead(t, s, text, 1+random.IntN(1500))
			after := exportedLines(t, s)
			changed, codes := changedLines(before, after), 0
			changed = slices.DeleteFunc(changed, func(key string) bool {
				is := strings.HasPrefix(key, codeKind+" ")
				if is {
					codes++
				}
				return is
			})
			require.Equal(t, changed, r.all(), text)
			require.Equal(t, codes, r.counted[codeKind], text)
			require.Len(t, r.single, min(len(changed), mostSingle))
			for key, event := range r.single {
				require.Equal(t, before[key] == "", event.Action == store.AuditCreated, key)
				require.Equal(t, after[key] == "", event.Action == store.AuditDeleted, key)
			}
			for key, action := range r.together {
				require.Equal(t, after[key] == "", action == store.AuditDeleted, key)
			}
		}
	})
}

// An import reads a bounded number of lines for the log, however many it writes, and none of those that it skips.
func TestImportsReadFewLinesForEvents(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		const (
			batch   = 1024
			blocks  = 2 // of up to 512 lines in a batch
			batches = 4
		)
		s := e.Open(t)
		for _, x := range []struct {
			version      string
			checked, log int // statements that read lines: of the check, and for the log
		}{
			{"a", 0, 2 * blocks}, // the table is empty
			{"b", blocks * batches, 2 * blocks},
			{"b", blocks * batches, 0},
		} {
			ctx, counter := store.CountStatements(t.Context())
			_, err := s.Exchange.Import(ctx, storetest.Actor, storetest.Source(numbered(batch*batches, fileLine, always(x.version))), exchange.ImportOptions{Batch: batch})
			require.NoError(t, err)
			read := 0
			for _, query := range counter.Queries() {
				if strings.Contains(query, "SELECT id, body FROM file WHERE id IN") {
					read++
				}
			}
			require.Equal(t, x.checked+x.log, read, x.version)
		}
	})
}

// A node with many products is deleted by a later transaction, and has one event of its deletion.
func TestDeletionOfALargeNodeIsRecordedOnce(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		for _, used := range []int{0, mostSingle} {
			s := e.Open(t)
			products := make([]string, 2001)
			for i := range products {
				products[i] = fmt.Sprintf(`{"type":"product","id":"p%04d"}`, i)
			}
			storetest.Import(t, s, storetest.JoinLines(`{"type":"hierarchy","id":"tree","attributes":{"name":"Tree"}}`,
				`{"type":"node","id":"large","attributes":{"name":"L"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"tree"}},"products":{"data":[`+strings.Join(products, ",")+`]}}}`,
				`{"type":"node","id":"small","attributes":{"name":"S"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"tree"}}}}`))
			before, err := s.Audit.Changes(t.Context(), 1, "")
			require.NoError(t, err)
			storetest.Import(t, s, numbered(used, fileLine, always("a"))+storetest.JoinLines(`{"type":"node","id":"large","deleted":true}`, `{"type":"node","id":"small","deleted":true}`))
			var deleted []string
			for after, more := before.Latest, true; more; {
				page, err := s.Audit.Changes(t.Context(), 100, after)
				require.NoError(t, err)
				for i, event := range page.Events {
					after = page.Cursor(i)
					if event.Action == store.AuditDeleted {
						deleted = append(deleted, event.IDs...)
						if event.ResourceID != "" {
							deleted = append(deleted, event.ResourceID)
						}
					}
				}
				more = page.HasNext
			}
			require.ElementsMatch(t, []string{"small", "large"}, deleted, used)
		}
	})
}

// What an import keeps of stored lines is bounded in bytes too. What comes after them is recorded together.
func TestImportsKeepFewBytesForEvents(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := e.Open(t)
		const products, single = 520, 512
		large := func(id, version string) string {
			return strings.Replace(productLine(id, version), `"name"`, `"description":"`+strings.Repeat("d", 33<<10)+`","name"`, 1)
		}
		storetest.Import(t, s, numbered(products, large, always("a")))
		r := importAndRead(t, s, numbered(products, productLine, always("b")), 0)
		require.Len(t, r.all(), products)
		require.Len(t, r.single, single)
	})
}
