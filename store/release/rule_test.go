package release_test

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
	"portico/store/release/routing"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestCatalogRules checks which catalog a shopper sees. TestWhichRuleWins tests the choice itself;
// these tests store, change and schedule rules.
func TestCatalogRules(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("imported rules", rulesImported(backend))
		t.Run("of equal rules the one imported first wins", rulesInOrder(backend))
		t.Run("schedules", rulesScheduled(backend))
		t.Run("a view keeps its catalog", rulesKeepView(backend))
		t.Run("a new rule applies at once, also on another server", rulesApplyAtOnce(backend))
		t.Run("choosing a catalog runs no statements once rules are cached", rulesCached(backend))
		t.Run("explanations", rulesExplained(backend))
	})
}

func rulesImported(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend, storetest.WithClock(testkit.NewClock(testkit.Noon)))
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
			require.Equal(t, c.want, storetest.ShopperCatalog(t, s, c.shopper), c.name)
		}
		require.NoError(t, s.Catalogs.DeleteRule(t.Context(), storetest.Actor, "everyone"))
		require.Equal(t, "main", storetest.ShopperCatalog(t, s, release.ShopperContext{}), "the oldest catalog without a rule")
	}
}

func rulesInOrder(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		toMain := func(id string) string {
			return strings.ReplaceAll(storetest.OutletRuleLine(id, `"channels":["kiosk"],`), "outlet", "main")
		}
		storetest.Import(t, s, storetest.JoinLines(storetest.OutletRuleLine("z-first", `"channels":["kiosk"],`), toMain("a-second")))
		require.Equal(t, "outlet", storetest.ShopperCatalog(t, s, release.ShopperContext{Channel: "kiosk"}))
		storetest.Import(t, s, storetest.JoinLines(toMain("a-second"), storetest.OutletRuleLine("z-first", `"channels":["kiosk","stall"],`)))
		require.Equal(t, "outlet", storetest.ShopperCatalog(t, s, release.ShopperContext{Channel: "kiosk"}), "a change keeps the order")
	}
}

func rulesScheduled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := storetest.OpenPublished(t, backend, storetest.WithClock(clock))
		storetest.Import(t, s, storetest.JoinLines(storetest.OutletRuleLine("hour", `"channels":["web"],"schedules":[{"valid_from":"2024-05-30T13:00:00.000Z","valid_to":"2024-05-30T14:00:00.000Z"}],`)))
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
			v := storetest.View(t, s, release.ShopperContext{Channel: "web"})
			require.Equal(t, c.want, v.Release.CatalogID, c.at)
			until := v.Resolution().ValidUntil
			require.Equal(t, c.until == "", until.IsZero(), "%s: until %s", c.at, until)
			if c.until != "" {
				require.Equal(t, c.until, until.Format(time.TimeOnly), c.at)
			}
		}
	}
}

func rulesKeepView(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		v := storetest.View(t, s, release.ShopperContext{Channel: "web"})
		storetest.Import(t, s, storetest.JoinLines(storetest.OutletRuleLine("web", `"channels":["web"],`)))
		require.Equal(t, "outlet", storetest.ShopperCatalog(t, s, release.ShopperContext{Channel: "web"}))
		require.Equal(t, "Anvil", storetest.FindProduct(t, v, "anvil").Name())
		x := v.Resolution()
		require.Equal(t, []any{"main", "everyone", routing.ResolvedByDefault}, []any{x.Catalog.ID, x.Rule.ID, x.Reason})
		require.Len(t, x.Candidates, 2)
	}
}

func rulesApplyAtOnce(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		here, there := storetest.OpenPublished(t, backend), backend.Open(t)
		kiosk := release.ShopperContext{Channel: "kiosk"}
		require.Equal(t, "main", storetest.ShopperCatalog(t, there, kiosk))
		outlet, name := "outlet", "kiosk"
		made, err := here.Catalogs.CreateRule(t.Context(), storetest.Actor, "", catalog.RuleChange{Name: &name, CatalogID: &outlet, Channels: []string{"kiosk"}})
		require.NoError(t, err)
		require.Equal(t, "outlet", storetest.ShopperCatalog(t, here, kiosk))
		testkit.Eventually(t, "outlet", func() string { return storetest.ShopperCatalog(t, there, kiosk) })
		_, err = there.Catalogs.UpdateRule(t.Context(), storetest.Actor, made.ID, catalog.RuleChange{Channels: []string{"stall"}})
		require.NoError(t, err)
		require.Equal(t, "main", storetest.ShopperCatalog(t, there, kiosk))
		testkit.Eventually(t, "outlet", func() string { return storetest.ShopperCatalog(t, here, release.ShopperContext{Channel: "stall"}) })
		require.NoError(t, here.Catalogs.DeleteRule(t.Context(), storetest.Actor, made.ID))
		require.Equal(t, "main", storetest.ShopperCatalog(t, here, release.ShopperContext{Channel: "stall"}))
	}
}

func rulesCached(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenPublished(t, backend)
		// What was just published is noticed once more, as another process's.
		testkit.Eventually(t, "[]", func() string {
			ctx, counter := store.CountStatements(t.Context())
			for _, channel := range []string{"web", "mobile", ""} {
				v, err := s.Releases.View(ctx, release.ShopperContext{Channel: channel})
				require.NoError(t, err)
				v.Resolution()
				_, err = s.Releases.CatalogResolution(ctx, release.ShopperContext{AccountID: channel}, &testkit.Noon)
				require.NoError(t, err)
			}
			return fmt.Sprintf("%q", counter.Queries())
		})
	}
}

func rulesExplained(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon)))
		explain := func(shopper release.ShopperContext) *routing.CatalogResolution {
			x, err := s.Releases.CatalogResolution(context.Background(), shopper, nil)
			require.NoError(t, err)
			return x
		}
		x := explain(release.ShopperContext{})
		require.Equal(t, routing.ResolvedToNothing, x.Reason)
		require.True(t, x.Catalog == nil && x.Release == nil && x.Rule == nil && len(x.Candidates) == 0)
		storetest.Import(t, s, storetest.ShopFile)
		x = explain(release.ShopperContext{})
		require.Equal(t, routing.ResolvedToNothing, x.Reason)
		require.Equal(t, routing.DropNotPublished, x.Candidates[0].Dropped, "dropped because not published")
		storetest.Publish(t, s, "outlet")
		x = explain(release.ShopperContext{})
		require.Equal(t, []any{routing.ResolvedByAge, "outlet"}, []any{x.Reason, x.Catalog.ID})
		require.True(t, x.Rule == nil && x.Release != nil)
		storetest.Publish(t, s, "main")
		x = explain(release.ShopperContext{AccountID: "acme", AccountTags: []string{"gold"}, CustomerID: "bob", Channel: "web"})
		require.Equal(t, []any{routing.ResolvedByRule, "outlet", "club", testkit.Noon}, []any{x.Reason, x.Catalog.ID, x.Rule.ID, x.At})
		club, everyone := x.Candidates[0], x.Candidates[1]
		require.Equal(t, []any{4, 1, routing.CriterionMatched, routing.CriterionMissed, routing.CriterionMatched}, []any{club.Score, club.Missed, club.Channel(), club.Tag(), club.Schedule()})
		require.Equal(t, []any{0, 0, true, routing.CriterionNotAsked, routing.CriterionNotAsked}, []any{everyone.Score, everyone.Missed, everyone.Default(), everyone.Channel(), everyone.Schedule()})
		_, err := s.Catalogs.UpdateRule(t.Context(), storetest.Actor, "club", catalog.RuleChange{CatalogID: new("nowhere")})
		storetest.RequireError(t, err, store.Unprocessable, "catalog_id", `catalog: "nowhere"`)
	}
}
