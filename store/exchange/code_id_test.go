package exchange_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// Imports that give codes of several promotions one id at the same time all succeed, and the id stays unique: one of them
// has it.
func TestImportsOfOneCodeIDAtTheSameTime(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		for round := range testkit.QuickOrFull(10, 40) {
			var group sync.WaitGroup
			failures := make([]error, 4)
			for writer := range failures {
				group.Go(func() {
					id := fmt.Sprint("p", writer)
					lines := []string{storetest.PromotionLine(id, "")}
					for i := range 8 {
						lines = append(lines, fmt.Sprintf(`{"type":"promotion_code","id":"id-%d-%d","promotion_id":%q,"code":"%[3]s-%[1]d-%[2]d"}`, round, i, id))
					}
					_, failures[writer] = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(lines...)), exchange.ImportOptions{})
				})
			}
			group.Wait()
			for _, err := range failures {
				require.NoError(t, err)
			}
		}
		total := 0
		for writer := range 4 {
			total += storetest.CodesTotal(t, t.Context(), s, fmt.Sprint("p", writer))
		}
		require.Equal(t, 8*testkit.QuickOrFull(10, 40), total)
	})
}
