package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
	"portico/store/storetest"
)

// sealKey seals the signing keys, the same for all servers of a test.
var sealKey = base64.StdEncoding.EncodeToString(make([]byte, 32))

// doomed is a server in a process of its own, to be killed.
type doomed struct {
	url     string
	process *os.Process
	ended   chan error
}

func startDoomed(t *testing.T, databaseURL string) *doomed {
	t.Helper()
	executable, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), executable, "serve", "--addr", "127.0.0.1:0", "--database-url", databaseURL, "--seal-key", sealKey)
	command.Args[0] = "portico"
	stderr, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	d := &doomed{process: command.Process, ended: make(chan error, 1)}
	lines := bufio.NewScanner(stderr)
	for d.url == "" && lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
			d.url = line.Address
		}
	}
	require.NotEmpty(t, d.url, "the server did not get ready")
	go func() {
		for lines.Scan() { // the pipe must not fill
		}
		d.ended <- command.Wait()
	}()
	return d
}

func (d *doomed) kill() {
	_ = d.process.Kill() // SIGKILL
	<-d.ended
}

func (d *doomed) token(t *testing.T, client *shop.Client, secret string) string {
	t.Helper()
	answer, err := http.PostForm(d.url+"/oauth/access_token", url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ID}, "client_secret": {secret}})
	require.NoError(t, err)
	defer answer.Body.Close()
	var body struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
	require.NotEmpty(t, body.Token)
	return body.Token
}

// add increments the stock by one under a key; an error means that nobody
// knows whether it did.
func (d *doomed) add(token, key string) error {
	const query = `{"query":"mutation { stockTransact(input: {changes: [{productId: \"a\", action: INCREMENT, quantity: 1}]}) { userErrors { message } } }"}`
	request, err := http.NewRequest(http.MethodPost, d.url+"/graphql", strings.NewReader(query))
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

// A server is killed while clients write; whatever was not answered is sent
// again. A write without its key would then be made twice, a key without its
// write not at all.
func TestWritesUnderKeysSurviveAKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		s := e.Open(t)
		now := time.Now().Truncate(time.Millisecond).UTC()
		storetest.SeedStock(t, e.SQL(t), shop.Stock{ProductID: "a", CreatedAt: now, UpdatedAt: now})
		client, secret, err := s.CreateClient(t.Context(), "test", "till", nil)
		require.NoError(t, err)
		var doubtful []string
		var answered atomic.Int64
		for round := range 3 {
			server := startDoomed(t, e.URL(t))
			token := server.token(t, client, secret)
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
		stock, err := s.Stock(t.Context(), "a")
		require.NoError(t, err)
		require.EqualValues(t, answered.Load(), stock.Available, "each was made once")
	})
}
