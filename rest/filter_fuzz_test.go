package rest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// render returns conditions as a filter with quoted values.
func render(conditions []condition) string {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = c.operator + "(" + c.attribute
		for _, value := range c.values {
			texts[i] += `,"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
		texts[i] += ")"
	}
	return strings.Join(texts, ":")
}

// FuzzParseFilter requires INVALID, or conditions within the limits that survive a round trip.
func FuzzParseFilter(f *testing.F) {
	for _, seed := range []string{
		``, `eq(sku,A1)`, `in(sku,A1,B2)`, `eq(sku,A):in(tags,b,"c d")`, `eq(sku,A),in(tags,b,c),eq(name,d)`,
		` eq ( sku , A ) : gt(id,x)`, `eq(name,"a \"b\" \\ c")`, `eq(name,"")`,
		`gt(updated_at,2024-01-01T00:00:00.000)`, `eq(sku,A`, `eq(sku,"A`, `eq(sku,"A\`, `eq(sku,A))`, `eq(,)`, `((((`, `:::`,
		"eq(name,\xff\x00)", `like(sku,*A*)`,
		`eq(name,筆刷)`, strings.Repeat(`eq(sku,A):`, 11), `in(id,` + strings.Repeat(`x,`, 1001) + `x)`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, meaning := range map[string]func() error{
			"productFilter": func() error { _, err := productFilter(text); return err },
			"listBounds":    func() error { _, err := listBounds(text); return err },
		} {
			if err := meaning(); err != nil {
				requireBadFilter(t, err, "%s of %q", name, text)
			}
		}
		conditions, err := parseFilter(text)
		if err != nil {
			requireBadFilter(t, err, "%q", text)
			return
		}
		require.NotEmpty(t, conditions)
		require.LessOrEqual(t, len(conditions), store.MaxFilterTerms)
		for _, c := range conditions {
			require.NotEmpty(t, c.operator)
			require.NotEmpty(t, c.attribute)
			require.NotEmpty(t, c.values)
		}
		again, err := parseFilter(render(conditions))
		if len(render(conditions)) > maxFilterBytes {
			return // quotes make it longer
		}
		require.NoError(t, err, "%q, written as %q", text, render(conditions))
		require.Equal(t, conditions, again, "%q, written as %q", text, render(conditions))
	})
}

func requireBadFilter(t *testing.T, err error, format string, args ...any) {
	t.Helper()
	var bad *store.Error
	require.ErrorAs(t, err, &bad, append([]any{format}, args...)...)
	require.Equal(t, store.Invalid, bad.Code, append([]any{format}, args...)...)
	require.Equal(t, []string{"filter"}, bad.Path, append([]any{format}, args...)...)
	require.NotEmpty(t, bad.Detail, append([]any{format}, args...)...)
}
