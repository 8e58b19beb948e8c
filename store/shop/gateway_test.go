package shop_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/gateway"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// password is a text that occurs nowhere else.
const password = "xyzzy-hunter2-plugh"

func secret(text string) *gateway.Secret {
	s := gateway.NewSecret(text)
	return &s
}

// cardProcessor is a complete configuration of the card processor.
func cardProcessor() gateway.Change {
	return gateway.Change{MerchantID: new("m-1"), Username: new("shop"), Password: secret(password), Enabled: new(true)}
}

func TestGateways(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("all gateways are listed, disabled until configured", gatewaysListed(backend))
		t.Run("a change merges", gatewayMerged(backend))
		t.Run("an invalid change changes nothing", gatewayRefused(backend))
		t.Run("the password is stored only sealed", gatewaySealed(backend))
		t.Run("concurrent changes all apply", gatewayConcurrent(backend))
		t.Run("an import keeps the password", gatewayImported(backend))
	})
}

func gatewaysListed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		list, err := s.Gateways.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []*gateway.Gateway{
			{Slug: gateway.CardProcessor, Name: "Card Processor"}, {Slug: gateway.Manual, Name: "Manual"},
		}, list)
		require.False(t, list[0].Configured())
		for _, slug := range []string{"", "stripe", "CARD_PROCESSOR"} {
			_, err := s.Gateways.Get(t.Context(), slug)
			storetest.RequireError(t, err, store.NotFound, "slug", "card_processor and manual")
			_, err = s.Gateways.Update(t.Context(), storetest.Actor, slug, cardProcessor())
			storetest.RequireError(t, err, store.NotFound, "slug")
		}
	}
}

func gatewayMerged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		g, err := s.Gateways.Update(t.Context(), storetest.Actor, "card_processor", cardProcessor())
		require.NoError(t, err)
		require.Equal(t, &gateway.Gateway{Slug: gateway.CardProcessor, Name: "Card Processor", Enabled: true, MerchantID: "m-1", Login: "shop",
			PasswordSet: true, Fingerprint: g.Fingerprint, ChangedAt: testkit.Noon, ChangedBy: storetest.Actor}, g)
		require.Len(t, g.Fingerprint, 16)
		for _, c := range []struct {
			name   string
			change gateway.Change
			want   func(*gateway.Gateway)
		}{
			{"nothing", gateway.Change{}, func(*gateway.Gateway) {}},
			{"a name", gateway.Change{Name: new("Cards")}, func(g *gateway.Gateway) { g.Name = "Cards" }},
			{"an empty name", gateway.Change{Name: new("")}, func(*gateway.Gateway) {}},
			{"disabled, for tests", gateway.Change{Enabled: new(false), Test: new(true)}, func(g *gateway.Gateway) { g.Enabled, g.Test = false, true }},
			{"a username", gateway.Change{Username: new("other")}, func(g *gateway.Gateway) { g.Login = "other" }},
			{"the mask for the password", gateway.Change{Password: secret(gateway.SecretMask)}, func(*gateway.Gateway) {}},
			{"what was read, sent back whole", gateway.Change{Name: new("Cards"), Enabled: new(true), Test: new(true), MerchantID: new("m-1"), Password: secret(gateway.SecretMask)},
				func(g *gateway.Gateway) { g.Enabled = true }},
			{"a merchant", gateway.Change{MerchantID: new("m-2")}, func(g *gateway.Gateway) { g.MerchantID = "m-2" }},
		} {
			want := *g
			c.want(&want)
			want.ChangedAt = clock.Advance(time.Minute)
			g, err = s.Gateways.Update(t.Context(), storetest.Actor, "card_processor", c.change)
			require.NoError(t, err, c.name)
			require.Equal(t, &want, g, c.name)
			read, err := s.Gateways.Get(t.Context(), "card_processor")
			require.NoError(t, err)
			require.Equal(t, g, read, c.name)
		}
		again, err := s.Gateways.Update(t.Context(), storetest.Actor, "card_processor", gateway.Change{Password: secret(password)})
		require.NoError(t, err)
		require.Equal(t, g.Fingerprint, again.Fingerprint, "the password did not change")
		other, err := s.Gateways.Update(t.Context(), storetest.Actor, "card_processor", gateway.Change{Password: secret("another")})
		require.NoError(t, err)
		require.NotEqual(t, g.Fingerprint, other.Fingerprint)
		manual, err := s.Gateways.Update(t.Context(), storetest.Actor, "manual", gateway.Change{Enabled: new(true)})
		require.NoError(t, err, "manual needs no credentials")
		require.True(t, manual.Enabled)
		manual, err = s.Gateways.Update(t.Context(), storetest.Actor, "manual", gateway.Change{Name: new("Manual"), Enabled: new(false), Test: new(false), MerchantID: new(""), Username: new(""), Password: secret("")})
		require.NoError(t, err, "sending back all that was read")
		require.False(t, manual.Enabled)
		require.Empty(t, s.Gateways.SecretFingerprint(secret(gateway.SecretMask)), "the mask has no mark")
		require.NotEmpty(t, s.Gateways.SecretFingerprint(secret("")))
	}
}

func gatewayRefused(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		change := func(with func(*gateway.Change)) gateway.Change {
			c := cardProcessor()
			with(&c)
			return c
		}
		long := strings.Repeat("p", 1025)
		for _, c := range []struct {
			name, slug string
			change     gateway.Change
			code       store.Code
			members    []string
		}{
			{"nothing at first", "card_processor", gateway.Change{}, store.Unprocessable, []string{"merchant_id", "username", "password"}},
			{"enabled without credentials", "card_processor", gateway.Change{Enabled: new(true)}, store.Unprocessable, []string{"merchant_id", "username", "password"}},
			{"no password at first", "card_processor", change(func(c *gateway.Change) { c.Password = nil }), store.Unprocessable, []string{"password"}},
			{"the mask at first", "card_processor", change(func(c *gateway.Change) { c.Password = secret(gateway.SecretMask) }), store.Unprocessable, []string{"password"}},
			{"an empty password", "card_processor", change(func(c *gateway.Change) { c.Password = secret("") }), store.Unprocessable, []string{"password"}},
			{"empty names", "card_processor", change(func(c *gateway.Change) { c.MerchantID, c.Username = new(""), new("") }), store.Unprocessable, []string{"merchant_id", "username"}},
			{"a long password", "card_processor", change(func(c *gateway.Change) { c.Password = secret(long) }), store.Unprocessable, []string{"password"}},
			{"NUL in the password", "card_processor", change(func(c *gateway.Change) { c.Password = secret("a\x00" + password) }), store.Invalid, []string{"password"}},
			{"a long name", "card_processor", change(func(c *gateway.Change) { c.Name = &long }), store.Unprocessable, []string{"name"}},
			{"credentials of the manual gateway", "manual", cardProcessor(), store.Unprocessable, []string{"merchant_id", "username", "password"}},
		} {
			_, err := s.Gateways.Update(t.Context(), storetest.Actor, c.slug, c.change)
			require.Error(t, err, c.name)
			var members []string
			for _, e := range store.AsErrors(err) {
				members = append(members, strings.Join(e.Path, "."))
				require.Equal(t, c.code, e.Code, c.name)
			}
			require.Equal(t, c.members, members, c.name)
			require.NotContains(t, fmt.Sprintf("%v %+v", err, err), password, c.name)
			require.Equal(t, 0, storetest.CountRows(t, backend.SQL(t), "gateway"), c.name)
		}
		_, err := backend.Open(t, func(c *shop.Config) { c.Sealer = nil }).Gateways.Update(t.Context(), storetest.Actor, "card_processor", cardProcessor())
		require.ErrorContains(t, err, "because it has the sealing key")
	}
}

func gatewaySealed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		g, err := s.Gateways.Update(t.Context(), storetest.Actor, "card_processor", cardProcessor())
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprintf("%+v %#v", g, *g), password)
		require.NotContains(t, storetest.Export(t, s), password)
		require.NotContains(t, storetest.Export(t, s), g.Fingerprint)
		var body string
		var sealed []byte
		require.NoError(t, backend.SQL(t).QueryRow(`SELECT body, sealed FROM gateway WHERE slug = 'card_processor'`).Scan(&body, &sealed))
		require.NotContains(t, body, password)
		require.NotContains(t, string(sealed), password)
		require.Greater(t, len(sealed), len(password))

		// Another key opens nothing, and changes nothing.
		_, err = backend.Open(t, func(c *shop.Config) { c.Sealer = storetest.NewSealer(t, 'o') }).Gateways.Update(t.Context(), storetest.Actor, "card_processor", gateway.Change{Enabled: new(false)})
		require.ErrorIs(t, err, seal.ErrKey)
		read, err := s.Gateways.Get(t.Context(), "card_processor")
		require.NoError(t, err)
		require.Equal(t, g, read)
		bare, err := backend.Open(t, func(c *shop.Config) { c.Sealer = nil }).Gateways.Get(t.Context(), "card_processor")
		require.NoError(t, err, "a server without the key still sees that there is a password")
		require.True(t, bare.PasswordSet)
		require.Empty(t, bare.Fingerprint)
	}
}

func gatewayConcurrent(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, other := backend.Open(t), backend.Open(t)
		failures := make([]error, 20)
		var group sync.WaitGroup
		for i := range failures {
			on := []*shop.Store{s, other}[i%2]
			change := cardProcessor()
			if i%4 < 2 {
				change.Name = new("Cards")
			} else {
				change.Test = new(true)
			}
			group.Go(func() {
				_, failures[i] = on.Gateways.Update(t.Context(), storetest.Actor, "card_processor", change)
			})
		}
		group.Wait()
		for _, failure := range failures {
			require.NoError(t, failure)
		}
		g, err := s.Gateways.Get(t.Context(), "card_processor")
		require.NoError(t, err)
		require.Equal(t, "Cards", g.Name)
		require.True(t, g.Test)
	}
}

func gatewayImported(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		g, err := s.Gateways.Update(t.Context(), storetest.Actor, "card_processor", cardProcessor())
		require.NoError(t, err)
		storetest.Import(t, s, storetest.ShopFile)
		after, err := s.Gateways.Get(t.Context(), "card_processor")
		require.NoError(t, err)
		require.Equal(t, g.Fingerprint, after.Fingerprint)
		require.Equal(t, "Cards", after.Name)
		require.True(t, after.Test)
	}
}
