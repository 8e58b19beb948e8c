package shop_test

import (
	"testing"

	"portico/store"
	"portico/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// actor is who writes in these tests.
const actor store.Actor = "client:test"

func TestEveryEngineKeepsThePromisesOf(t *testing.T) {
	t.Parallel()
	for _, suite := range []struct {
		name string
		run  func(*testing.T, storetest.Engine)
	}{
		{"migrations", storetest.Migrations},
		{"settings", storetest.Settings},
		{"promotions", storetest.Promotions},
		{"gateways", storetest.Gateways},
		{"pages", storetest.Pages},
		{"stocks", storetest.Stocks},
		{"stock", storetest.Stock},
		{"stock deletion", storetest.StockDelete},
		{"live stock", storetest.LiveStock},
		{"statements", storetest.Statements},
		{"text", storetest.Text},
		{"writes", storetest.Writes},
		{"patience", storetest.Patience},
		{"linearizable histories", storetest.Linearizable},
		{"writes together", storetest.WritesTogether},
		{"idempotency", storetest.Idempotency},
		{"code use", storetest.CodeUse},
		{"code generation", storetest.CodeGeneration},
		{"totals", storetest.Totals},
		{"housekeeping", storetest.Housekeeping},
		{"clock steps", storetest.ClockSteps},
		{"pools", storetest.Pools},
		{"a year", storetest.Year},
		{"bounded writes", storetest.BoundedWrites},
	} {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, suite.run)
		})
	}
}
