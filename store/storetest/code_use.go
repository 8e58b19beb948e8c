package storetest

import (
	"strings"
	"testing"

	"portico/store/shop"
)

// promoted imports promotions and codes at noon.
func OpenWithLines(t *testing.T, e Backend, lines ...string) (*shop.Store, *Clock) {
	t.Helper()
	clock := NewClock(Noon)
	s := e.Open(t, WithClock(clock))
	Import(t, s, strings.Join(lines, "\n"))
	return s, clock
}

// promotion is a line of an import: good from 2024-01-01 until 2100-01-01 but
// for the members given.
func PromotionLine(id, members string) string {
	return `{"type":"promotion","id":"` + id + `","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,` +
		`"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}` + members + `}`
}

// code is a line of an import.
func CodeLine(promotion, code, members string) string {
	return `{"type":"promotion_code","id":"id-` + code + `","promotion_id":"` + promotion + `","code":"` + code + `"` + members + `}`
}
