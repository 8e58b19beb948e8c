package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/access"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// sealKey is the sealing key of all servers of a test.
var sealKey = base64.StdEncoding.EncodeToString(make([]byte, 32))

// add increments the stock by one with an idempotency key. After an error, the write may or may not
// be done.
func (s *serverProcess) add(token, key string) error {
	const query = `{"query":"mutation { stockTransact(input: {changes: [{productId: \"a\", action: INCREMENT, quantity: 1}]}) { userErrors { message } } }"}`
	request, err := http.NewRequest(http.MethodPost, s.url+"/graphql", strings.NewReader(query))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Idempotency-Key", key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var body struct {
		Errors []any
		Data   struct {
			StockTransact struct{ UserErrors []any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return err
	}
	if len(body.Errors)+len(body.Data.StockTransact.UserErrors) > 0 {
		return fmt.Errorf("answered %v", body)
	}
	return nil
}

// TestIdempotentWritesSurviveKill kills a server under load and retries the unanswered writes. A
// write stored without its key would run twice, and a key stored without its write would lose it.
func TestIdempotentWritesSurviveKill(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestWriteOutcomes and TestWritesAreLinearizable of store/shop interrupt writes without kills")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := e.Open(t)
		now := time.Now().Truncate(time.Millisecond).UTC()
		storetest.SeedStock(t, e.SQL(t), stock.Stock{ProductID: "a", CreatedAt: now, UpdatedAt: now})
		client, secret, err := s.Access.CreateClient(t.Context(), "test", "till", access.Scopes())
		require.NoError(t, err)
		var doubtful []string
		var answered atomic.Int64
		for round := range 3 {
			server := startServer(t, "--database-url", e.URL(t), "--seal-key", sealKey)
			_, token := server.login(t, client.ID, secret)
			for _, key := range doubtful {
				require.NoError(t, server.add(token, key))
				answered.Add(1)
			}
			doubtful = nil
			if round == 2 {
				server.kill()
				break
			}
			var mu sync.Mutex
			var writers sync.WaitGroup
			enough := make(chan struct{})
			var once sync.Once
			for writer := range 8 {
				writers.Go(func() {
					for n := 0; ; n++ {
						key := fmt.Sprintf("%d-%d-%d", round, writer, n)
						if server.add(token, key) != nil {
							mu.Lock()
							doubtful = append(doubtful, key)
							mu.Unlock()
							return
						}
						if answered.Add(1) > 200 {
							once.Do(func() { close(enough) })
						}
					}
				})
			}
			<-enough
			server.kill()
			writers.Wait()
			require.NotEmpty(t, doubtful)
		}
		stock, err := s.Stock.Get(t.Context(), "a")
		require.NoError(t, err)
		require.EqualValues(t, answered.Load(), stock.Available, "each write ran once")
	})
}
