package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/shop"
)

// Rules is the promise about which catalog a shopper sees (DESIGN 8). The
// choice itself is tested as a table beside it; here it is read, kept, changed
// and timed by a real store.
func Rules(t *testing.T, e Engine) {
	t.Run("imported rules lead shoppers to their catalogs", rulesImported(e))
	t.Run("of two rules as good and as old the one imported first wins", rulesInOrder(e))
	t.Run("a schedule begins and ends at its instants, by the clock", rulesByTheClock(e))
	t.Run("a view goes on with the catalog it was made with, and explains that one", rulesOnce(e))
	t.Run("a rule counts at once, here and in another open store", rulesAtOnce(e))
	t.Run("choosing costs no statement once the rules are known", rulesKept(e))
	t.Run("an explanation says what is chosen", rulesExplained(e))
}

// rule is a line of a rule that leads to the outlet.
func rule(id, members string) string {
	return fmt.Sprintf(`{"type":"catalog_rule","id":%q,"attributes":{"name":%q,"catalog_id":"outlet",%s"created_at":"2024-01-01T00:00:00.000Z"}}`, id, id, members)
}

// seenBy is the catalog that a shopper sees.
func seenBy(t require.TestingT, s *shop.Store, shopper release.ShopperContext) string {
	return viewOf(t, s, shopper).Release.CatalogID
}

func rulesImported(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e, At(NewClock(noon)))
		member := release.ShopperContext{AccountID: "acme", AccountTags: []string{"silver", "gold"}, CustomerID: "bob"}
		for _, c := range []struct {
			name    string
			shopper release.ShopperContext
			want    string
		}{
			{"nobody in particular", release.ShopperContext{}, "main"},
			{"a shopper for whom the club's rule is", member, "outlet"},
			{"one of another account", release.ShopperContext{AccountID: "other", AccountTags: []string{"gold"}, CustomerID: "bob", Channel: "web", Tags: []string{"clearance"}}, "main"},
			{"one without the tag", release.ShopperContext{AccountID: "acme", CustomerID: "bob"}, "main"},
			{"a channel and a tag make no member", release.ShopperContext{Channel: "web", Tags: []string{"clearance"}}, "main"},
		} {
			require.Equal(t, c.want, seenBy(t, s, c.shopper), c.name)
		}
		require.NoError(t, s.DeleteCatalogRule(t.Context(), actor, "everyone"))
		require.Equal(t, "main", seenBy(t, s, release.ShopperContext{}), "without a rule the oldest catalog")
	}
}

func rulesInOrder(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e)
		toMain := func(id string) string { return strings.ReplaceAll(rule(id, `"channels":["kiosk"],`), "outlet", "main") }
		imported(t, s, ndjson(rule("z-first", `"channels":["kiosk"],`), toMain("a-second")))
		require.Equal(t, "outlet", seenBy(t, s, release.ShopperContext{Channel: "kiosk"}))
		imported(t, s, ndjson(toMain("a-second"), rule("z-first", `"channels":["kiosk","stall"],`)))
		require.Equal(t, "outlet", seenBy(t, s, release.ShopperContext{Channel: "kiosk"}), "a change keeps the order of the first import")
	}
}

func rulesByTheClock(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		clock := NewClock(noon)
		s := published(t, e, At(clock))
		imported(t, s, ndjson(rule("hour", `"channels":["web"],"schedules":[{"valid_from":"2024-05-30T13:00:00.000Z","valid_to":"2024-05-30T14:00:00.000Z"}],`)))
		for _, c := range []struct{ at, want, until string }{
			{"12:00:00.000", "main", "13:00:00"},
			{"12:59:59.999", "main", "13:00:00"},
			{"13:00:00.000", "outlet", "14:00:00"},
			{"13:59:59.999", "outlet", "14:00:00"},
			{"14:00:00.000", "main", ""},
		} {
			now, err := time.Parse("2006-01-02T15:04:05", "2024-05-30T"+c.at)
			require.NoError(t, err)
			clock.Set(now)
			v := viewOf(t, s, release.ShopperContext{Channel: "web"})
			require.Equal(t, c.want, v.Release.CatalogID, c.at)
			until := v.Resolution().ValidUntil
			require.Equal(t, c.until == "", until.IsZero(), "%s: until %s", c.at, until)
			if c.until != "" {
				require.Equal(t, c.until, until.Format(time.TimeOnly), c.at)
			}
		}
	}
}

func rulesOnce(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e)
		v := viewOf(t, s, release.ShopperContext{Channel: "web"})
		imported(t, s, ndjson(rule("web", `"channels":["web"],`)))
		require.Equal(t, "outlet", seenBy(t, s, release.ShopperContext{Channel: "web"}))
		require.Equal(t, "Anvil", product(t, v, "anvil").Name())
		x := v.Resolution()
		require.Equal(t, []any{"main", "everyone", release.ResolvedByDefault}, []any{x.Catalog.ID, x.Rule.ID, x.Reason})
		require.Len(t, x.Candidates, 2)
	}
}

func rulesAtOnce(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		here, there := published(t, e), e.Open(t)
		kiosk := release.ShopperContext{Channel: "kiosk"}
		require.Equal(t, "main", seenBy(t, there, kiosk))
		outlet, name := "outlet", "kiosk"
		made, err := here.CreateCatalogRule(t.Context(), actor, "", catalog.RuleChange{Name: &name, CatalogID: &outlet, Channels: []string{"kiosk"}})
		require.NoError(t, err)
		require.Equal(t, "outlet", seenBy(t, here, kiosk))
		Soon(t, "outlet", func() string { return seenBy(t, there, kiosk) })
		_, err = there.UpdateCatalogRule(t.Context(), actor, made.ID, catalog.RuleChange{Channels: []string{"stall"}})
		require.NoError(t, err)
		require.Equal(t, "main", seenBy(t, there, kiosk))
		Soon(t, "outlet", func() string { return seenBy(t, here, release.ShopperContext{Channel: "stall"}) })
		require.NoError(t, here.DeleteCatalogRule(t.Context(), actor, made.ID))
		require.Equal(t, "main", seenBy(t, here, release.ShopperContext{Channel: "stall"}))
	}
}

func rulesKept(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := published(t, e)
		// What was just published is noticed once more, as another process's.
		Soon(t, "[]", func() string {
			ctx, counter := store.CountStatements(t.Context())
			for _, channel := range []string{"web", "mobile", ""} {
				v, err := s.View(ctx, release.ShopperContext{Channel: channel})
				require.NoError(t, err)
				v.Resolution()
				_, err = s.CatalogResolution(ctx, release.ShopperContext{AccountID: channel}, &noon)
				require.NoError(t, err)
			}
			return fmt.Sprintf("%q", counter.Queries())
		})
	}
}

func rulesExplained(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := e.Open(t, At(NewClock(noon)))
		explain := func(shopper release.ShopperContext) *release.CatalogResolution {
			x, err := s.CatalogResolution(context.Background(), shopper, nil)
			require.NoError(t, err)
			return x
		}
		x := explain(release.ShopperContext{})
		require.Equal(t, release.ResolvedToNothing, x.Reason)
		require.True(t, x.Catalog == nil && x.Release == nil && x.Rule == nil && len(x.Candidates) == 0)
		imported(t, s, shopFile)
		x = explain(release.ShopperContext{})
		require.Equal(t, release.ResolvedToNothing, x.Reason)
		require.Equal(t, release.DropNotPublished, x.Candidates[0].Dropped, "which says what to do about it")
		publish(t, s, "outlet")
		x = explain(release.ShopperContext{})
		require.Equal(t, []any{release.ResolvedByAge, "outlet"}, []any{x.Reason, x.Catalog.ID})
		require.True(t, x.Rule == nil && x.Release != nil)
		publish(t, s, "main")
		x = explain(release.ShopperContext{AccountID: "acme", AccountTags: []string{"gold"}, CustomerID: "bob", Channel: "web"})
		require.Equal(t, []any{release.ResolvedByRule, "outlet", "club", noon}, []any{x.Reason, x.Catalog.ID, x.Rule.ID, x.At})
		club, everyone := x.Candidates[0], x.Candidates[1]
		require.Equal(t, []any{4, 1, release.CriterionMatched, release.CriterionMissed, release.CriterionMatched}, []any{club.Score, club.Missed, club.Channel(), club.Tag(), club.Schedule()})
		require.Equal(t, []any{0, 0, true, release.CriterionNotAsked, release.CriterionNotAsked}, []any{everyone.Score, everyone.Missed, everyone.Default(), everyone.Channel(), everyone.Schedule()})
		_, err := s.UpdateCatalogRule(t.Context(), actor, "club", catalog.RuleChange{CatalogID: new("nowhere")})
		requireFault(t, err, store.Unprocessable, "catalog_id", `catalog: "nowhere"`)
	}
}
