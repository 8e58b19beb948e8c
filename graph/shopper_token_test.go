package graph_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/graphtest"
	"portico/internal/auth"
	"portico/store"
	"portico/store/storetest"
)

const mint = `mutation($input: ShopperTokenCreateInput!) { shopperTokenCreate(input: $input) { token expiresAt scopes userErrors { field code message } } }`

// minted is the payload of shopperTokenCreate.
type minted struct {
	ShopperTokenCreate struct {
		Token, ExpiresAt *string
		Scopes           []string
		UserErrors       []struct {
			Field         []string
			Code, Message string
		}
	}
}

func TestShopperTokens(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		input := map[string]any{"accountId": "acme", "accountTags": []string{"gold"}, "customerId": "bob", "expiresIn": 90, "idempotencyKey": "k"}
		var first, again, other minted
		s.Post(t, mint, graphtest.Variables{"input": input}).Read(t, &first)
		made := first.ShopperTokenCreate
		require.Empty(t, made.UserErrors)
		require.Equal(t, "2024-05-30T12:01:30.000Z", *made.ExpiresAt)
		require.Equal(t, []string{"catalog:read", "inventory:read"}, made.Scopes)

		principal, err := graphtest.NewTokens(t, s.Store).Verify(t.Context(), *made.Token)
		require.NoError(t, err)
		require.Equal(t, &auth.Principal{ClientID: "tester", Grant: "shopper", Scopes: made.Scopes, Expires: principal.Expires,
			AccountID: "acme", AccountTags: []string{"gold"}, CustomerID: "bob"}, principal)

		s.Post(t, mint, graphtest.Variables{"input": input}).Read(t, &again)
		require.Equal(t, first, again, "under its key it is the same token")
		delete(input, "idempotencyKey")
		s.Post(t, mint, graphtest.Variables{"input": input}).Read(t, &other)
		require.NotEqual(t, made.Token, other.ShopperTokenCreate.Token)

		var kept string
		require.NoError(t, e.SQL(t).QueryRow(`SELECT outcome FROM idempotency_key`).Scan(&kept))
		require.Contains(t, kept, "acme")
		for _, part := range strings.Split(*made.Token, ".") {
			require.NotContains(t, kept, part, "the token is not kept, nor any part of it")
		}
		require.NotContains(t, s.Log.String(), *made.Token)
	})
}

// Each check of a code counts, also several in one document.
func TestCodeChecksAreRateLimited(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		graphtest.LoadCodes(t, s)
		var tried atomic.Int64
		limit := func(_ context.Context, client string) error {
			require.Equal(t, "tester", client)
			if tried.Add(1) > 100 {
				return &store.Error{Code: store.RateLimited, Detail: "Too much."}
			}
			return nil
		}
		s = graphtest.Serve(s.Store, graph.WithCodeLimit(limit))
		var aliases strings.Builder
		for i := range 500 {
			fmt.Fprintf(&aliases, `c%d: promotionCodeCheck(code: "GUESS-%d") { valid } `, i, i)
		}
		a := s.Post(t, "{ "+aliases.String()+" }", nil)
		require.EqualValues(t, 500, tried.Load(), "a document of 500 tries counts 500")
		require.Equal(t, http.StatusOK, a.Code, "some were answered")
		require.Equal(t, 100, strings.Count(string(a.Data), `{"valid":`), "the tries within the limit, and no other")
		require.Equal(t, 400, strings.Count(string(a.Data), `:null`))
		require.Equal(t, []store.Code{store.RateLimited}, slices.Compact(a.Codes()))

		for _, query := range []string{
			`mutation { promotionCodeRedeem(input: {code: "HI", reference: "order-1"}) { unitsApplied userErrors { message } } }`,
			`{ promotionCodeCheck(code: "HI") { valid } }`,
		} {
			a = s.Post(t, query, nil)
			require.Equal(t, []store.Code{store.RateLimited}, a.Codes(), query)
			require.Equal(t, http.StatusTooManyRequests, a.Code, "nothing else was answered")
		}
		used, err := s.Store.Codes.Get(t.Context(), "HI")
		require.NoError(t, err)
		require.Equal(t, 2, *used.RemainingUses(), "nothing was redeemed but by order-0")

		a = s.Post(t, `{ settings { pageLength } }`, nil)
		require.Equal(t, http.StatusOK, a.Code, "all else goes on")
		a = s.Send(t, graphtest.As(graphtest.NewPost(t, `{ promotionCodeCheck(code: "HI") { valid } }`, nil), graphtest.Client("settings:read")))
		require.Equal(t, forbidden, a.Codes(), "who may not try is told that first")
		require.EqualValues(t, 502, tried.Load())
		require.Empty(t, s.Log.String())
	})
}
