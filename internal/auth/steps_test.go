package auth_test

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/storetest/testkit"
)

const aYear = 366 * 24 * time.Hour

// TestClockSkew verifies tokens on a server whose clock differs, and on one whose clock was changed
// after it cached the token.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	key := rsaKey(t)
	p.publish(public("r", key.Public()))
	issued := start.Truncate(time.Second)
	minted := func(lifetime time.Duration) string {
		token, err := f.service.ShopperToken(t.Context(), f.client.ID,
			&access.ShopperTokenContent{ID: "g", IssuedAt: issued, Expires: issued.Add(lifetime)})
		require.NoError(t, err)
		return token.AccessToken
	}
	foreign := func(claims map[string]any) string { return sign(t, jose.RS256, key, "r", p.saying(claims)) }
	tokens := map[string]string{
		"own": f.token(t).AccessToken, "shopper": minted(time.Hour), "a day": minted(access.MaxTokenLifetime),
		"foreign": foreign(nil), "foreign, from a time on": foreign(map[string]any{"iat": nil, "nbf": start.Unix()}),
		"foreign, since ever": foreign(map[string]any{"iat": nil}),
	}
	const early, late, wrong = "not valid yet", "expired", "later than allowed"
	for _, test := range []struct {
		name    string
		off     time.Duration // difference to the issuer's clock
		refused map[string]string
	}{
		{"as it was", 0, nil},
		{"a minute behind", -time.Minute, nil},
		{"minutes behind", -5 * time.Minute, map[string]string{"foreign": early, "foreign, from a time on": early}},
		{"an hour behind", -59 * time.Minute, map[string]string{"foreign": early, "foreign, from a time on": early}},
		{"hours behind", -23 * time.Hour, map[string]string{"a day": wrong, "foreign": early, "foreign, from a time on": early}},
		{"a year behind", -aYear, map[string]string{"own": wrong, "shopper": wrong, "a day": wrong, "foreign": early,
			"foreign, from a time on": early}},
		{"within the hour", 59 * time.Minute, nil},
		{"a leeway after it", time.Hour + 59*time.Second, nil},
		{"after it", time.Hour + 61*time.Second, map[string]string{"own": late, "shopper": late, "foreign": late,
			"foreign, from a time on": late, "foreign, since ever": late}},
		{"a year ahead", aYear, map[string]string{"own": late, "shopper": late, "a day": late, "foreign": late, "foreign, from a time on": late,
			"foreign, since ever": late}},
	} {
		t.Run(test.name, func(t *testing.T) {
			clock := testkit.NewClock(start)
			server := func() *auth.Service {
				service, err := auth.New(t.Context(), f.store.Access, newSealer(t, 1), auth.Options{Issuer: issuer, Clock: clock.Now,
					OIDC: &auth.OIDCIssuer{URL: p.URL, Audience: "shop-api"}})
				require.NoError(t, err)
				return service
			}
			other, knows := server(), server()
			for name, token := range tokens {
				_, err := knows.Verify(t.Context(), token)
				require.NoError(t, err, name)
			}
			clock.Set(start.Add(test.off))
			for name, token := range tokens {
				for _, service := range []*auth.Service{other, knows} {
					_, err := service.Verify(t.Context(), token)
					if test.refused[name] == "" {
						require.NoError(t, err, name)
						continue
					}
					require.ErrorContains(t, err, test.refused[name], name)
					require.True(t, store.HasCode(err, store.Unauthenticated), name)
				}
			}
			clock.Set(start)
			for name, token := range tokens {
				_, err := knows.Verify(t.Context(), token)
				require.NoError(t, err, "%s, once the clock is right again", name)
			}
		})
	}
}

// TestTokensAfterClockChange requires that new tokens are valid after any change of the clock.
func TestTokensAfterClockChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, step := range []time.Duration{0, -2 * time.Minute, 2 * time.Hour, -5 * time.Hour, 20 * time.Hour, aYear, -aYear, 0} {
		f.clock.Set(start.Add(step))
		own := f.token(t)
		grant, err := f.store.Access.GrantShopperToken(t.Context(), "client:a", access.NewShopperToken{})
		require.NoError(t, err)
		shopper, err := f.service.ShopperToken(t.Context(), f.client.ID, grant)
		require.NoError(t, err)
		for _, token := range []*auth.Token{own, shopper} {
			_, err := f.service.Verify(t.Context(), token.AccessToken)
			require.NoError(t, err, "after %s", step)
			f.clock.Set(token.Expires.Add(time.Minute + time.Second))
			_, err = f.service.Verify(t.Context(), token.AccessToken)
			require.ErrorContains(t, err, "expired", "after %s", step)
			f.clock.Set(start.Add(step))
		}
	}
}
