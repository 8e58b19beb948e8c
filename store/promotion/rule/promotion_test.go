package rule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestState(t *testing.T) {
	t.Parallel()
	start := time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)
	end := start.Add(time.Hour)
	for _, c := range []struct {
		at                time.Time
		enabled, disabled PromotionState
	}{
		{start.Add(-time.Millisecond), PromotionScheduled, PromotionDisabled},
		{start, PromotionActive, PromotionDisabled},
		{end.Add(-time.Millisecond), PromotionActive, PromotionDisabled},
		{end, PromotionExpired, PromotionExpired},
		{end.Add(time.Hour), PromotionExpired, PromotionExpired},
	} {
		for enabled, want := range map[bool]PromotionState{true: c.enabled, false: c.disabled} {
			p := &Promotion{Enabled: enabled, Start: start, End: end}
			require.Equal(t, want, p.StateAt(c.at), "%s, enabled %t", c.at, enabled)
		}
	}
}

func TestExcludes(t *testing.T) {
	t.Parallel()
	const item = `{"products(care)":{"note":"wool","pots":2,"toxic":false,"since":"2024-05-30"},"plain":{"size":1.50}}`
	leaf := func(template, field, kind, value string) string {
		return `{"template":"` + template + `","field":"` + field + `","type":"` + kind + `","value":` + value + `}`
	}
	for _, c := range []struct {
		conditions string
		want       bool
	}{
		{``, false},
		{`{}`, false},
		{`[]`, false},
		{`{"and":[]}`, false},
		{leaf("care", "note", "string", `"wool"`), true},
		{leaf("products(care)", "note", "string", `"wool"`), true},
		{leaf("care", "note", "string", `"Wool"`), false},
		{leaf("care", "other", "string", `"wool"`), false},
		{leaf("other", "note", "string", `"wool"`), false},
		{leaf("care", "pots", "integer", `"2"`), true},
		{leaf("care", "pots", "float", `2.0`), true},
		{leaf("care", "pots", "integer", `3`), false},
		{leaf("care", "toxic", "boolean", `false`), true},
		{leaf("care", "since", "date", `"2024-05-30T00:00"`), true},
		{leaf("plain", "size", "float", `"1.5"`), true},
		{`[` + leaf("care", "pots", "integer", `2`) + `,` + leaf("plain", "size", "float", `1.5`) + `]`, true},
		{`{"and":[` + leaf("care", "pots", "integer", `2`) + `,{"and":[` + leaf("plain", "size", "float", `1`) + `]}]}`, false},
		{`{"and":[` + leaf("care", "pots", "integer", `2`) + `,` + leaf("care", "note", "string", `null`) + `]}`, false},
		{`{"and":[` + leaf("care", "pots", "integer", `2`) + `,5]}`, false},
		{`{"and":[{},` + leaf("care", "pots", "integer", `2`) + `]}`, true},
	} {
		p := &Promotion{Conditions: []byte(c.conditions)}
		require.Equal(t, c.want, p.Exclusion().Excludes(DecodeItemFields([]byte(item))), c.conditions)
		require.False(t, p.Exclusion().Excludes(nil), c.conditions)
		require.False(t, p.Exclusion().Excludes(DecodeItemFields([]byte(`{"care":3}`))), c.conditions)
	}
}
