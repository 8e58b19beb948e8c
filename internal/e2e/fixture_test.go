package e2e

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/demo"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
)

// fixture is a store on the database of running servers. It writes data for them to serve, and
// issues tokens.
type fixture struct {
	*shop.Store
	tokens *auth.Service
	flags  []string // flags for a server on the same database
}

// openFixture opens a fixture on a database until the test ends.
func openFixture(t testing.TB, url string) *fixture {
	t.Helper()
	sealer := storetest.NewSealer(t, 'k')
	s, err := shop.Open(t.Context(), shop.Config{URL: url, Synchronous: "OFF", Sealer: sealer})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	tokens, err := auth.New(t.Context(), s.Access, sealer, auth.Options{Issuer: "portico"})
	require.NoError(t, err)
	return &fixture{s, tokens, []string{"--database-url", url, "--synchronous", "OFF", "--seal-key", keyOf('k')}}
}

// openDemo opens a fixture with the demo shop.
func openDemo(t testing.TB, url string) *fixture {
	t.Helper()
	o := openFixture(t, url)
	require.NoError(t, demo.Fill(t.Context(), o.Store))
	return o
}

// serve starts a server on the fixture's database.
func (o *fixture) serve(t testing.TB, flags ...string) *serverProcess {
	t.Helper()
	return startServer(t, append(o.flags, flags...)...)
}

// issue creates a client, with all scopes by default, and returns a token for it.
func (o *fixture) issue(t testing.TB, scopes ...string) (client, token string) {
	t.Helper()
	if len(scopes) == 0 {
		scopes = access.Scopes()
	}
	made, _, err := o.Access.CreateClient(t.Context(), "test", "test", scopes)
	require.NoError(t, err)
	return made.ID, o.tokenFor(t, made.ID, made.Scopes, time.Hour)
}

// tokenFor returns a token for a client.
func (o *fixture) tokenFor(t testing.TB, client string, scopes []string, lifetime time.Duration) string {
	t.Helper()
	issued, err := o.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: client, Scopes: scopes,
		Lifetime: lifetime})
	require.NoError(t, err)
	return issued.AccessToken
}

// sell decrements the stock of a product by one.
func (o *fixture) sell(t testing.TB, product string) {
	t.Helper()
	_, err := o.Stock.Transact(t.Context(), "test", []stock.Change{{ProductID: product, Action: stock.StockDecrement, Quantity: 1}})
	require.NoError(t, err)
}

// importLines imports NDJSON lines.
func (o *fixture) importLines(t testing.TB, lines string) {
	t.Helper()
	_, err := o.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil },
		exchange.ImportOptions{})
	require.NoError(t, err)
}
