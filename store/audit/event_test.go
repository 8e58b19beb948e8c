package audit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/audit"
	"portico/store/exchange"
	"portico/store/gateway"
	"portico/store/promotion/code"
	"portico/store/shop"
	"portico/store/storetest"
)

var noFilter audit.Filter

// events lists all events, the oldest first, a few at a time.
func events(t *testing.T, s *shop.Store, filter audit.Filter) (all []*store.AuditEvent) {
	t.Helper()
	page := store.Page{Last: new(50)}
	for {
		slice, err := s.Audit.Events(t.Context(), filter, page)
		require.NoError(t, err)
		for i := len(slice.Items) - 1; i >= 0; i-- {
			all = append(all, slice.Items[i])
		}
		if !slice.HasPrevious {
			return all
		}
		page.Before = new(slice.Cursor(0))
	}
}

func describe(e *store.AuditEvent) string {
	text := fmt.Sprintf("%s %s %s %s", e.Actor, e.Action, e.Kind, e.ResourceID)
	if e.Count != 1 {
		text += fmt.Sprintf(" (%d)", e.Count)
	}
	for _, m := range e.Members {
		text += fmt.Sprintf(" %s: %s -> %s", strings.Join(m.Path, "."), value(m.Before), value(m.After))
	}
	return text
}

func value(text *string) string {
	if text == nil {
		return "none"
	}
	return *text
}

func TestEventsHaveMembers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := e.Open(t)
		storetest.Import(t, s, `{"type":"product","id":"mug","attributes":{"name":"Mug","sku":"MUG","status":"live","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}}`)
		latest := func() string {
			page, err := s.Audit.Changes(t.Context(), 1, "")
			require.NoError(t, err)
			return page.Latest
		}
		since := func(cursor string) (texts []string) {
			page, err := s.Audit.Changes(t.Context(), 100, cursor)
			require.NoError(t, err)
			for _, event := range page.Events {
				texts = append(texts, describe(event))
			}
			return texts
		}
		at := latest()
		storetest.Import(t, s, `{"type":"product","id":"mug","attributes":{"name":"Cup","sku":"MUG","status":"live","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}}`)
		require.Len(t, since(at), 1)
		require.Contains(t, since(at)[0], `updated product mug attributes.name: "Mug" -> "Cup"`)

		at = latest()
		storetest.Import(t, s, `{"type":"product","id":"mug","attributes":{"name":"Cup","sku":"MUG","status":"live","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}}`)
		require.Empty(t, since(at), "what does not change leaves no event")

		_, err := s.Exchange.DeleteProducts(t.Context(), storetest.Actor, []string{"mug"}, true)
		require.NoError(t, err)
		require.Empty(t, since(at), "a dry run leaves none")
		_, err = s.Exchange.DeleteProducts(t.Context(), storetest.Actor, []string{"mug"}, false)
		require.NoError(t, err)
		require.Contains(t, since(at)[0], "deleted product mug ")
		require.Contains(t, since(at)[0], ` attributes.name: "Cup" -> none`)

		byID := events(t, s, audit.Filter{Kind: store.AuditProduct, ResourceID: new("mug")})
		require.Len(t, byID, 3)
		require.Len(t, events(t, s, audit.Filter{Action: store.AuditDeleted}), 1)
		require.Empty(t, events(t, s, audit.Filter{Actor: new("client:other")}))
		require.NotEmpty(t, events(t, s, audit.Filter{}))
		for _, nothing := range []string{"", " ", "mug mug", "mug,mug", "%"} { // events of several resources have no id
			require.Empty(t, events(t, s, audit.Filter{ResourceID: &nothing}), "%q", nothing)
			require.Empty(t, events(t, s, audit.Filter{Actor: &nothing}), "%q", nothing)
		}
	})
}

// No event holds a secret, whatever wrote it.
func TestEventsHoldNoSecret(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		sealer := storetest.NewSealer(t, 1)
		s := e.Open(t, func(config *shop.Config) { config.Sealer = sealer })
		const password, customer, voucher = "hunter2-gateway", "ada@example.com", "SECRET-VOUCHER"
		var secrets []string
		_, secret, err := s.Access.CreateClient(t.Context(), storetest.Actor, "A", []string{"catalog:read"})
		require.NoError(t, err)
		secrets = append(secrets, secret)
		clients, err := s.Access.Clients(t.Context())
		require.NoError(t, err)
		_, secret, err = s.Access.RotateClientSecret(t.Context(), storetest.Actor, clients[0].ID, 0)
		require.NoError(t, err)
		secrets = append(secrets, secret)
		_, err = s.Access.RevokeClient(t.Context(), storetest.Actor, clients[0].ID)
		require.NoError(t, err)
		for _, text := range []string{password, password + "-2"} {
			_, err = s.Gateways.Update(t.Context(), storetest.Actor, string(gateway.CardProcessor),
				gateway.Change{Enabled: new(true), MerchantID: new("m"), Username: new("u"), Password: new(gateway.NewSecret(text))})
			require.NoError(t, err)
		}
		keys, err := s.Access.SigningKeys(t.Context(), sealer)
		require.NoError(t, err)
		_, err = s.Access.RotateSigningKey(t.Context(), storetest.Actor, sealer, 0, true)
		require.NoError(t, err)
		_, err = s.Rekey(t.Context(), storetest.Actor, sealer)
		require.NoError(t, err)
		storetest.Import(t, s, storetest.JoinLines(storetest.PromotionLine("p", ``), storetest.CodeLine("p", "IMPORTED-VOUCHER", `,"user":"`+customer+`"`)))
		_, _, err = s.Codes.Create(t.Context(), storetest.Actor, "p", []code.NewCode{{Code: voucher, User: code.OneCodeUser(customer)}}, "")
		require.NoError(t, err)
		_, err = s.Codes.Delete(t.Context(), storetest.Actor, "p", []string{voucher})
		require.NoError(t, err)

		var text bytes.Buffer
		_, err = s.Exchange.Export(t.Context(), &text, exchange.ExportOptions{WithClients: true})
		require.NoError(t, err)
		for _, line := range strings.Split(text.String(), "\n") {
			if _, hash, is := strings.Cut(line, `"secret_hash":"`); is {
				secrets = append(secrets, strings.Split(hash, `"`)[0])
			}
		}
		secrets = append(secrets, password, customer, voucher, "IMPORTED-VOUCHER", string(keys[0].Private.Seed()))

		kinds := map[store.AuditKind]bool{}
		for _, event := range events(t, s, noFilter) {
			kinds[event.Kind] = true
			for _, secret := range secrets {
				require.NotEmpty(t, secret)
				require.NotContains(t, string(store.Encode(event)), secret, describe(event))
			}
		}
		for _, kind := range []store.AuditKind{store.AuditClient, store.AuditGateway, store.AuditSigningKey, store.AuditSealingKey, store.AuditPromotionCode} {
			require.True(t, kinds[kind], kind)
		}
		last := events(t, s, audit.Filter{Kind: store.AuditGateway})
		require.Equal(t, `client:test updated gateway card_processor password: "********" -> "********"`, describe(last[len(last)-1]))
		require.Contains(t, access.Scopes(), "audit:read")
	})
}
