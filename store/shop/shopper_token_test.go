package shop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestGrantShopperToken(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(newYear.Add(999 * time.Millisecond))
		s := backend.Open(t, storetest.WithClock(clock))
		seconds := 86_400
		grant, err := s.Access.GrantShopperToken(t.Context(), "client:a", access.NewShopperToken{AccountID: "acme", AccountTags: []string{"gold"}, CustomerID: "bob", ExpiresIn: &seconds})
		require.NoError(t, err)
		require.NotEmpty(t, grant.ID)
		require.Equal(t, &access.ShopperTokenContent{ID: grant.ID, AccountID: "acme", AccountTags: []string{"gold"}, CustomerID: "bob",
			IssuedAt: newYear, Expires: newYear.Add(24 * time.Hour)}, grant)

		usual, err := s.Access.GrantShopperToken(t.Context(), "client:a", access.NewShopperToken{})
		require.NoError(t, err)
		require.Equal(t, newYear.Add(time.Hour), usual.Expires)
		require.NotEqual(t, grant.ID, usual.ID)

		once := store.WithIdempotencyKey(t.Context(), &store.IdempotencyKey{Key: "k", Operation: "mint", Input: 1})
		first, err := s.Access.GrantShopperToken(once, "client:a", access.NewShopperToken{CustomerID: "bob"})
		require.NoError(t, err)
		clock.Advance(time.Minute)
		again, err := s.Access.GrantShopperToken(once, "client:a", access.NewShopperToken{CustomerID: "bob"})
		require.NoError(t, err)
		require.Equal(t, first, again, "equal requests return equal grants")
	})
}

func TestGrantShopperTokenRefuses(t *testing.T) {
	t.Parallel()
	second := func(n int) *int { return &n }
	long := strings.Repeat("x", 256)
	var tags []string
	for range 50 {
		tags = append(tags, long[:100])
	}
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		for _, test := range []struct {
			name   string
			wanted access.NewShopperToken
			want   []string // path and detail
		}{
			{"no time", access.NewShopperToken{ExpiresIn: second(0)}, []string{"expires_in must be between 60 and 86400 seconds, got 0."}},
			{"too short", access.NewShopperToken{ExpiresIn: second(59)}, []string{"expires_in must be between 60 and 86400 seconds, got 59."}},
			{"over a day", access.NewShopperToken{ExpiresIn: second(86_401)}, []string{"expires_in must be between 60 and 86400 seconds, got 86401."}},
			{"more than a duration holds", access.NewShopperToken{ExpiresIn: second(1 << 62)}, []string{"expires_in must be between"}},
			{"ids too long", access.NewShopperToken{AccountID: long, CustomerID: long}, []string{"account_id must be at most 255 bytes long, got 256.", "customer_id must be"}},
			{"a tag too long, and one that is no text", access.NewShopperToken{AccountTags: []string{"a", long, "\xff"}}, []string{"account_tags.1 must be at most", "account_tags.2 must be valid UTF-8"}},
			{"too many tags", access.NewShopperToken{AccountTags: make([]string, 101)}, []string{"account_tags must have at most 100 tags, got 101."}},
			{"too much in all", access.NewShopperToken{AccountTags: tags}, []string{"account_tags must have, with the other claims, at most 4096 bytes"}},
		} {
			_, err := s.Access.GrantShopperToken(t.Context(), "client:a", test.wanted)
			errs := store.AsErrors(err)
			require.Len(t, errs, len(test.want), test.name)
			for i, e := range errs {
				require.Equal(t, store.Unprocessable, e.Code, test.name)
				require.Contains(t, e.Error(), test.want[i], test.name)
			}
		}
	})
}
