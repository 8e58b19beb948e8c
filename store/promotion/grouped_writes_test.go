package promotion_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestGroupedWrites checks that writes that share a transaction succeed or fail independently.
func TestGroupedWrites(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("redeeming shares statements but not errors", groupedRedeems(backend))
		t.Run("creating codes shares statements but not errors", groupedCreates(backend))
		t.Run("opposite orders do not deadlock", groupedOppositeOrders(backend))
	})
}

// runBlocked starts writes that wait for locked rows of a table, releases them all at once and
// returns their errors and statements.
func runBlocked(t *testing.T, backend storetest.Backend, table string, writes []func(context.Context) error) (errs []error,
	statements []string) {
	t.Helper()
	transaction, err := backend.SQL(t).Begin()
	require.NoError(t, err)
	_, err = transaction.Exec(`UPDATE ` + table + ` SET epoch = epoch`)
	require.NoError(t, err)
	counted, counter := store.CountStatements(context.Background())
	errs = make([]error, len(writes))
	var group sync.WaitGroup
	for i, write := range writes {
		begun := &storetest.ObservedContext{Context: counted, Checked: make(chan struct{}, 1)}
		group.Go(func() { errs[i] = write(begun) })
		<-begun.Checked // it waits, or is about to
	}
	require.NoError(t, transaction.Rollback())
	group.Wait()
	return errs, counter.Queries()
}

func countContaining(statements []string, part string) (n int) {
	for _, statement := range statements {
		if strings.Contains(statement, part) {
			n++
		}
	}
	return n
}

func groupedRedeems(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("off", `,"enabled":false`),
			storetest.CodeLine("p", "MANY", ``), storetest.CodeLine("p", "FEW", `,"max_uses":3`), storetest.CodeLine("off", "OFF", ``))
		var writes []func(context.Context) error
		add := func(use redeem.CodeUse) {
			writes = append(writes, func(ctx context.Context) error {
				_, err := s.Redemptions.Redeem(ctx, storetest.Actor, use)
				return err
			})
		}
		for i := range 40 {
			add(redeem.CodeUse{Code: []string{"MANY", "FEW", "OFF", "NONE"}[i%4], Units: 1, Reference: fmt.Sprint("order-", i)})
		}
		add(redeem.CodeUse{Code: "MANY", Units: 1, Reference: "order-0"}) // repeated
		add(redeem.CodeUse{Code: "MANY", Units: 1, Reference: "order-0", User: "other"})
		writes = append(writes, func(ctx context.Context) error {
			gone, cancel := context.WithCancel(context.WithoutCancel(ctx))
			_ = ctx.Err() // reports to ObservedContext
			cancel()
			_, err := s.Redemptions.Redeem(gone, storetest.Actor, redeem.CodeUse{Code: "MANY", Units: 1, Reference: "gone"})
			return err
		})
		errs, statements := runBlocked(t, backend, "promotion_code", writes)
		var few int
		for i, err := range errs[:40] {
			switch i % 4 {
			case 0:
				require.NoError(t, err)
			case 1:
				if err == nil {
					few++
				} else {
					storetest.RequireError(t, err, store.Unprocessable, "code", "used up")
				}
			case 2:
				storetest.RequireError(t, err, store.Unprocessable, "code", "belongs to a disabled promotion")
			case 3:
				storetest.RequireError(t, err, store.NotFound, "code", `"NONE"`)
			}
		}
		require.Equal(t, 3, few, "the maximum uses")
		require.NoError(t, errs[40])
		storetest.RequireError(t, errs[41], store.Conflict, "reference", "another user")
		require.ErrorIs(t, errs[42], context.Canceled)
		require.LessOrEqual(t, countContaining(statements, "UPDATE promotion_code"), 10, "for 13 redemptions")
		c, err := s.Codes.Get(t.Context(), "MANY")
		require.NoError(t, err)
		require.Equal(t, 10, c.Used)
		requireUsages(t, backend)
	}
}

func groupedCreates(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``),
			storetest.PromotionLine("auto", `,"automatic":true`), storetest.CodeLine("p", "HAD", ``))
		var writes []func(context.Context) error
		create := func(id string, codes ...string) {
			writes = append(writes, func(ctx context.Context) error {
				list := make([]code.NewCode, len(codes))
				for i, code := range codes {
					list[i].Code = code
				}
				p, created, err := s.Codes.Create(ctx, storetest.Actor, id, list, code.PerCart)
				for i, c := range created {
					if c.PromotionID != id || p.ID != id || codes[i] != "" && c.Code != codes[i] || !c.CreatedAt.Equal(clock.Now()) {
						t.Errorf("%v was created for %s", c, id)
					}
				}
				return err
			})
		}
		for i := range 40 {
			create([]string{"p", "q"}[i%2], fmt.Sprint("Z", i), "", fmt.Sprint("A", 99-i))
		}
		create("p", "GOOD", "bad/code", "HAD")
		create("auto", "GOOD-1")
		create("none", "GOOD-2")
		errs, statements := runBlocked(t, backend, "promotion", writes)
		for _, err := range errs[:40] {
			require.NoError(t, err)
		}
		storetest.RequireError(t, store.AsErrors(errs[40])[0], store.Unprocessable, "codes.1.code")
		requireDuplicate(t, store.AsErrors(errs[40])[1], "codes.2.code")
		storetest.RequireError(t, errs[41], store.Unprocessable, "promotion_id", "automatic")
		storetest.RequireError(t, errs[42], store.NotFound, "promotion_id")
		require.LessOrEqual(t, countContaining(statements, "INSERT INTO promotion_code"), 25, "for 40 requests of three codes")
		require.Len(t, codesOf(t, s, "p"), 61)
		require.Len(t, codesOf(t, s, "q"), 60)

		writes = nil
		for i := range 12 {
			create([]string{"p", "q"}[i%2], "SAME", fmt.Sprint("OTHER-", i))
		}
		errs, _ = runBlocked(t, backend, "promotion", writes)
		created := slices.IndexFunc(errs, func(err error) bool { return err == nil })
		require.GreaterOrEqual(t, created, 0, "one of them succeeds")
		for i, err := range errs {
			if i != created {
				requireDuplicate(t, err, "codes.0.code")
			}
		}
		require.Equal(t, 123, len(codesOf(t, s, "p"))+len(codesOf(t, s, "q")), "each batch is atomic")
		requireCodesClaimed(t, backend.SQL(t), testkit.Noon)
	}
}

// groupedOppositeOrders redeems, releases and deletes the same codes of several promotions on two
// servers, in opposite orders.
func groupedOppositeOrders(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var lines []string
		for p := range 3 {
			lines = append(lines, storetest.PromotionLine(fmt.Sprint("p", p), ``))
			for c := range 8 {
				lines = append(lines, storetest.CodeLine(fmt.Sprint("p", p), fmt.Sprintf("C%d-%d", 7-c, p), `,"max_uses":40`))
			}
		}
		storetest.OpenWithLines(t, backend, lines...)
		redeemers(t, backend, func(s *shop.Store, n int) {
			for c := range 8 {
				if n%2 == 0 {
					c = 7 - c
				}
				name := fmt.Sprintf("C%d-%d", c, (c+n)%3)
				_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: name, Units: 1, Reference: fmt.Sprint(n)})
				if err == nil && n%4 == 3 {
					_, err = s.Redemptions.Release(t.Context(), storetest.Actor, fmt.Sprint(n), nil)
				}
				if n%16 == 5 && c == 3 {
					_, err = s.Codes.Delete(t.Context(), storetest.Actor, "p0", []string{"C7-0", "C1-0"})
				}
				if err != nil && !store.HasCode(err, store.NotFound) && !store.HasCode(err, store.Unprocessable) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
		requireUsages(t, backend)
	}
}
