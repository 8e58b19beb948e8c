package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/redeem"
)

// redeemCode creates a promotion with redeemed codes.
func redeemCode(t testing.TB, s *testServer) {
	t.Helper()
	importLines(t, s.store, strings.Join([]string{
		`{"type":"promotion","id":"spring","name":"Spring","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`,
		`{"type":"promotion_code","id":"spring-1","promotion_id":"spring","code":"HI"}`,
		`{"type":"promotion_code","id":"spring-2","promotion_id":"spring","code":"A+B ü","consume_unit":"per_item"}`,
	}, "\n"))
	for i := range 40 {
		use := redeem.CodeUse{Code: "HI", User: "u1", Units: 1 + i, Reference: fmt.Sprint("order-", i)}
		if i%3 == 0 {
			use.Code = "A+B ü"
		}
		_, err := s.store.Redemptions.Redeem(t.Context(), "client:till", use)
		require.NoError(t, err)
		if i%4 == 0 {
			_, err = s.store.Redemptions.Release(t.Context(), "client:till", use.Reference, nil)
			require.NoError(t, err)
		}
	}
}

// drawUsages draws a request for the usages of a promotion or of one code.
func drawUsages(coordinate string) func(*dice) *parityCase {
	return func(d *dice) *parityCase {
		l := d.list(coordinate)
		q := &parityCase{method: "GET"}
		id := pick(d, "spring", "spring", "spring", "spring", "none", "a b")
		path := "/v2/promotions/" + strings.ReplaceAll(id, " ", "%20")
		of := fmt.Sprintf("promotionId: %q", id)
		if strings.Contains(coordinate, ":code") {
			code := pick(d, "HI", "HI", "A+B ü", "hi")
			path += "/codes/" + strings.NewReplacer("/", "%2F", " ", "%20", "ü", "%C3%BC").Replace(code)
			of += fmt.Sprintf(", code: %q", code)
		}
		var resume *pageChoice
		request := func(l *drawnRequest) {
			l.where = of
			l.order()
			if l.chance(30) {
				l.stockFilter()
			} else if l.chance(20) {
				reference := pick(l.dice, "order-3", "order-4", "none")
				l.query.Set("filter", "eq(reference,"+reference+")")
				l.argument("reference", "String", fmt.Sprintf("%q", reference), reference)
				l.where += " of " + reference
			}
		}
		if places := d.cursors[coordinate]; len(places) > 0 && d.chance(35) {
			p := pick(d, places...)
			if strings.HasPrefix(p.where, of) {
				resume, request = &p, p.repeat
			}
		}
		again := l.replayable(request)
		if d.chance(15) {
			l.badPage()
		} else {
			l.page(resume)
			if d.chance(8) {
				q.client = d.rejectedClient()
			}
		}
		l.arguments = append(l.arguments, of)
		q.target = l.address(path + "/usages")
		q.document = l.document(`%s { promotionCodeUsages%s { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor }
			nodes { ...usage } } }`)
		q.variables = l.variables
		q.same = func(t require.TestingT, rest, data map[string]any) {
			list := data["promotionCodeUsages"].(map[string]any)
			l.samePage(t, rest, list, again)
			require.Equal(t, mapList(list["nodes"], wireUsage), rest["data"])
		}
		return q
	}
}

func wireUsage(u map[string]any) any {
	_, id, _ := store.ParseGlobalID(u["promotionId"].(string))
	return map[string]any{"type": "promotion_usage", "id": u["uuid"], "promotion_id": id, "code": u["code"], "user": orEmpty(u["user"]),
		"reference": orEmpty(u["reference"]),
		"actor":     u["actor"], "units_asked": u["unitsAsked"], "units_applied": u["unitsApplied"], "created_at": u["createdAt"],
		"released_at": u["releasedAt"]}
}
