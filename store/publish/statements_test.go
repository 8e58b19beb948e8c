package publish_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
)

func TestTmpStatements(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		url := backend.OtherURL(t)
		open := func(config *shop.Config) { config.URL = url }
		s := backend.Open(t, open)
		text := storetest.GenerateShop(t, 1000, 5)
		storetest.Import(t, s, text)
		catalog := storetest.CatalogID(t, text)
		storetest.Publish(t, s, catalog)
		for round := range 4 {
			var lines []string
			skip := 0
			for line := range strings.Lines(text) {
				if storetest.LineType(line) == "product" && strings.Contains(line, `"status":"live"`) && len(lines) < 10 {
					if skip++; skip > round*13 {
						lines = append(lines, strings.Replace(line, `"name":"`, fmt.Sprintf(`"name":"New %d`, round), 1))
					}
				}
			}
			storetest.Import(t, s, strings.Join(lines, ""))
			ctx, counter := store.CountStatements(t.Context())
			made, err := backend.Open(t, open).Publish(ctx, storetest.Actor, catalog, nil)
			require.NoError(t, err)
			fmt.Println(backend.Name, "round", round, "statements", counter.Count(), "layers", made.LayerIDs(), made.Added, made.Changed, made.Removed, made.Bytes)
			if round < 2 {
				count := map[string]int{}
				for _, q := range counter.Queries() {
					q = strings.Join(strings.Fields(q), " ")
					count[q[:min(150, len(q))]]++
				}
				var all []string
				for q, n := range count {
					all = append(all, fmt.Sprintf("%3d %s", n, q))
				}
				sort.Strings(all)
				fmt.Println(strings.Join(all, "\n"))
			}
		}
	})
}
