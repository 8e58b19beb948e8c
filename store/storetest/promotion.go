package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
	"portico/store/shop"
	"portico/store/storetest/testkit"
)

// TimeFormat is how promotions write times.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// OpenWithLines opens a store at Noon and imports lines.
func OpenWithLines(t *testing.T, backend Backend, lines ...string) (*shop.Store, *testkit.Clock) {
	t.Helper()
	clock := testkit.NewClock(testkit.Noon)
	s := backend.Open(t, WithClock(clock))
	Import(t, s, strings.Join(lines, "\n"))
	return s, clock
}

// PromotionLine returns the import line of a promotion that is active from 2024-01-01 to
// 2100-01-01. members are more members, each after a comma.
func PromotionLine(id, members string) string {
	return `{"type":"promotion","id":"` + id + `","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,` +
		`"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}` + members + `}`
}

// CodeLine returns the import line of a promotion code. members are more members, each after a
// comma.
func CodeLine(promotionID, codeText, members string) string {
	return `{"type":"promotion_code","id":"id-` + codeText + `","promotion_id":"` + promotionID + `","code":"` + codeText + `"` + members + `}`
}

// TenPercentOff is a promotion that is active for a day from now.
func TenPercentOff(now time.Time) promotion.Change {
	return promotion.Change{Name: new("Ten percent"), Description: new(""), Type: new(rule.PercentDiscount), Enabled: new(true),
		Start: new(now.Format(TimeFormat)), End: new(now.Add(testkit.Day).Format(TimeFormat)), Schema: json.RawMessage(`{"percent":10}`)}
}

// CreatePromotion creates a promotion that is active for a day from now.
func CreatePromotion(t testing.TB, s *shop.Store, id string, now time.Time) *rule.Promotion {
	t.Helper()
	p, err := s.Promotions.Create(t.Context(), Actor, id, TenPercentOff(now))
	require.NoError(t, err)
	return p
}

// DeletePromotion deletes a promotion, without a dry run.
func DeletePromotion(ctx context.Context, s *shop.Store, actor store.Actor, id string) error {
	_, err := s.Promotions.Delete(ctx, actor, id, false)
	return err
}

// NewCodes returns codes without other members.
func NewCodes(codes ...string) []code.NewCode {
	list := make([]code.NewCode, len(codes))
	for i, codeText := range codes {
		list[i].Code = codeText
	}
	return list
}

// AddCodes creates codes of a promotion.
func AddCodes(s *shop.Store, promotionID string, codes ...string) error {
	_, _, err := s.Codes.Create(context.Background(), Actor, promotionID, NewCodes(codes...), "") // without an idempotency key
	return err
}

// GenerateCodes queues a job that generates codes.
func GenerateCodes(t *testing.T, s *shop.Store, g code.Generation) *job.Job {
	t.Helper()
	task, _, err := s.Codes.Generate(t.Context(), Actor, g)
	require.NoError(t, err)
	require.Equal(t, job.Queued, task.State)
	return task
}

// ExportedCodes returns the codes of a promotion, none of which may have been claimed by another promotion since.
func ExportedCodes(t *testing.T, s *shop.Store, id string) (codes []string) {
	t.Helper()
	require.NoError(t, s.Codes.Each(t.Context(), id, func(c *code.PromotionCode) error {
		require.True(t, c.Held)
		codes = append(codes, c.Code)
		return nil
	}))
	return codes
}

// CodesTotal returns the total of a promotion's code list.
func CodesTotal(t require.TestingT, ctx context.Context, s *shop.Store, id string, codes ...string) int {
	page, err := s.Codes.List(ctx, id, code.Filter{Codes: codes}, store.Sort{}, store.Page{First: new(1)})
	require.NoError(t, err)
	n, err := page.Total(ctx)
	require.NoError(t, err)
	return n
}

// UsagesTotal returns the total of a promotion's usage list, or of one code's.
func UsagesTotal(t require.TestingT, ctx context.Context, s *shop.Store, id string, codeText *string) int {
	page, err := s.Redemptions.CodeUsages(ctx, redeem.UsageFilter{PromotionID: new(id), Code: codeText}, store.ListQuery{})
	require.NoError(t, err)
	n, err := page.Total(ctx)
	require.NoError(t, err)
	return n
}
