package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// killRounds returns the number of rounds: PORTICO_TEST_ROUNDS, or a few.
func killRounds(t *testing.T) int {
	t.Helper()
	if rounds := os.Getenv("PORTICO_TEST_ROUNDS"); rounds != "" {
		n, err := strconv.Atoi(rounds)
		require.NoError(t, err, "PORTICO_TEST_ROUNDS must be a number")
		return n
	}
	return testkit.QuickOrFull(1, 5)
}

// writeRecord counts the acknowledged and the unanswered writes of all rounds.
type writeRecord struct {
	mu               sync.Mutex
	moved, maybe     int            // stock writes, of two products each: acknowledged, unanswered
	redeemed, unsure int            // uses of one code: acknowledged, unanswered
	codes            map[int]string // prefixes of batches of three codes, by number
	doubtful         []string       // prefixes of unanswered batches
}

// write sends a write. sure reports whether it was acknowledged. A rejected write is an error.
func (s *serverProcess) write(token, method, path, body string) (sure bool, err error) {
	request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, nil // killed
	}
	defer response.Body.Close()
	var answer struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
		Data json.RawMessage
	}
	if json.NewDecoder(response.Body).Decode(&answer) != nil || response.StatusCode == http.StatusServiceUnavailable {
		return false, nil
	}
	if len(answer.Errors) > 0 && answer.Errors[0].Extensions.Code == "UNAVAILABLE" {
		return false, nil // timeout
	}
	if response.StatusCode >= 300 || len(answer.Errors) > 0 || bytes.Contains(answer.Data, []byte(`"userErrors":[{`)) {
		return false, fmt.Errorf("%s %s answers %d: %v %s", method, path, response.StatusCode, answer.Errors, answer.Data)
	}
	return true, nil
}

// load sends writes of all kinds until the server is killed.
func (a *writeRecord) load(t *testing.T, s *serverProcess, token string, round int) (done *sync.WaitGroup) {
	done = &sync.WaitGroup{}
	for client := range 4 {
		done.Go(func() {
			for n := 0; ; n++ {
				number := (round*4+client)*100_000 + n
				moved, err1 := s.write(token, "POST", "/graphql", graphQL(`mutation { stockTransact(input: {changes: [{productId: "prod-americano", action: INCREMENT, quantity: 1}, {productId: "prod-espresso", action: INCREMENT, quantity: 1}]}) { userErrors { message } } }`))
				prefix := fmt.Sprintf("K%d-", number)
				codes, err2 := s.write(token, "POST", "/v2/promotions/spring/codes",
					`{"data":{"type":"promotion_codes","codes":[{"code":"`+prefix+`1"},{"code":"`+prefix+`2"},{"code":"`+prefix+`3"}]}}`)
				redeemed, err3 := s.write(token, "POST", "/graphql",
					graphQL(fmt.Sprintf(`mutation { promotionCodeRedeem(input: {code: "BIG", reference: "r-%d"}) { unitsApplied userErrors { message } } }`, number)))
				for _, err := range []error{err1, err2, err3} {
					if err != nil {
						t.Error(err)
						return
					}
				}
				a.mu.Lock()
				a.moved, a.maybe = a.moved+one(moved), a.maybe+one(!moved)
				a.redeemed, a.unsure = a.redeemed+one(redeemed), a.unsure+one(!redeemed)
				if codes {
					a.codes[number] = prefix
				} else {
					a.doubtful = append(a.doubtful, prefix)
				}
				a.mu.Unlock()
				if !moved || !codes || !redeemed {
					return
				}
			}
		})
	}
	return done
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func graphQL(query string) string {
	text, _ := json.Marshal(map[string]string{"query": query})
	return string(text)
}

// TestAcknowledgedWritesSurviveKills repeatedly kills a server and a command at random moments. All
// acknowledged writes must be stored, none partially, and the command must complete when run again.
//
//	PORTICO_TEST_ROUNDS=100 go test -timeout 30m ./internal/e2e -run TestAcknowledgedWritesSurviveKills -v
func TestAcknowledgedWritesSurviveKills(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestWriteOutcomes and TestWritesAreLinearizable of store/shop interrupt writes without kills")
	seed := testkit.Seed(t)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		o := openDemo(t, e.URL(t))
		o.importLines(t, springPromotion+"\n"+`{"type":"promotion_code","id":"big","promotion_id":"spring","code":"BIG"}`)
		_, token := o.issue(t)
		db := e.SQL(t)
		read := func(query string, args ...any) (n int) {
			t.Helper()
			require.NoError(t, db.QueryRow(query, args...).Scan(&n))
			return n
		}
		database := o.flags[:2]
		keys := []string{"--seal-key", keyOf('n') + "," + keyOf('k')}
		beside := [][]string{ // one of these commands is killed in each round
			{"import", "--generate", "300"}, {"publish"}, append([]string{"rekey"}, keys...),
			{"codes", "generate", "--promotion", "spring", "--count", "3000"},
		}
		r := rand.New(rand.NewPCG(seed, uint64(len(e.Name))))
		all := &writeRecord{codes: map[int]string{}}
		unlimited := slices.Concat(database, keys, []string{"--code-rate-client", "0", "--code-rate-address", "0", "--lock-time", "20s"})
		rounds := killRounds(t)
		for round := range rounds {
			s := startServer(t, unlimited...)
			done := all.load(t, s, token, round)
			line := slices.Concat(beside[round%len(beside)], database)
			process := command(line...)
			require.NoError(t, process.Start())
			time.Sleep(time.Duration(20+r.IntN(400)) * time.Millisecond) // random moment
			both := []func(){func() { _ = process.Process.Kill() }, s.kill}
			for _, at := range r.Perm(2) {
				both[at]()
				time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
			}
			_ = process.Wait()
			done.Wait()
			require.False(t, t.Failed())
			if beside[round%len(beside)][0] != "codes" { // servers continue its job
				mustRun(t, line...)
			}
			moved := read(`SELECT available FROM stock WHERE product_id = 'prod-americano'`) - 400
			require.True(t, all.moved <= moved && moved <= all.moved+all.maybe,
				"%d moves of stock were acknowledged, and of %d nobody knows: %d are there", all.moved, all.maybe, moved)
		}
		s := startServer(t, unlimited...)
		_, body := s.graphql(t, token, `{ stocksById(productIds: ["prod-americano", "prod-espresso"]) { uuid available } promotionCodeCheck(code: "BIG") { valid } }`)
		var told struct {
			Data struct {
				StocksById         []struct{ Available int }
				PromotionCodeCheck struct{ Valid bool }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &told), body)
		require.True(t, told.Data.PromotionCodeCheck.Valid)
		moved := read(`SELECT available FROM stock WHERE product_id = 'prod-americano'`) - 400
		require.Len(t, told.Data.StocksById, 2)
		require.Equal(t, moved+400, told.Data.StocksById[0].Available)
		require.Equal(t, moved, read(`SELECT COUNT(*) FROM stock_transaction WHERE product_id = 'prod-americano' AND quantity = 1`),
			"a ledger line for each change")
		require.Equal(t, moved, read(`SELECT COUNT(*) FROM stock_transaction WHERE product_id = 'prod-espresso' AND quantity = 1`),
			"no partial write")
		used := read(`SELECT COUNT(*) FROM code_usage`)
		require.True(t, all.redeemed <= used && used <= all.redeemed+all.unsure, "%d of %d, and %d in doubt", used, all.redeemed, all.unsure)
		have := map[string]int{}
		for _, code := range dbtest.Texts(t, db, `SELECT code FROM promotion_code WHERE code LIKE 'K%'`) {
			have[code[:strings.Index(code, "-")+1]]++
		}
		for _, prefix := range all.codes {
			require.Equal(t, 3, have[prefix], "acknowledged codes")
		}
		for _, prefix := range all.doubtful {
			require.Contains(t, []int{0, 3}, have[prefix], "partial batches of codes")
		}
		t.Logf("%d rounds: %d writes acknowledged and there, %d in doubt, none by half", rounds, all.moved+all.redeemed+len(all.codes),
			all.maybe+all.unsure+len(all.doubtful))
	})
}
