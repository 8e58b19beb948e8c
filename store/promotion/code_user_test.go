package promotion_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
	"portico/store/shop"
	"portico/store/storetest"
)

// userForms are JSON forms of a code's user, with the users who may use the code.
var userForms = []struct {
	json  string // empty if absent
	users []string
}{
	{``, nil}, {`null`, nil}, {`"one"`, []string{"one"}}, {`["one"]`, []string{"one"}}, {`["one","two"]`, []string{"one", "two"}},
	{`"a b, \"c\" é"`, []string{`a b, "c" é`}},
}

// badUsers are invalid users, with the member of the error.
var badUsers = []struct{ json, member string }{
	{`""`, "user"}, {`[]`, "user"}, {`[""]`, "user.0"}, {`["one",""]`, "user.1"}, {`5`, "user"}, {`{}`, "user"}, {`true`, "user"},
	{`[5]`, "user"}, {`[null]`, "user"}, {`[["one"]]`, "user"},
	{`"` + strings.Repeat("u", 256) + `"`, "user"}, {`["` + strings.Repeat(`u","`, 1000) + `u"]`, "user"},
}

// requireForm checks a code's user in all ways to read the code.
func requireForm(t *testing.T, s *shop.Store, id, text, form string, users []string) {
	t.Helper()
	if form == "" {
		form = "null"
	}
	c, err := s.Codes.Get(t.Context(), text)
	require.NoError(t, err)
	slice, err := s.Codes.List(t.Context(), id, code.Filter{Codes: []string{text}}, store.Sort{}, store.Page{})
	require.NoError(t, err)
	for _, c := range append(slice.Items, c) {
		require.JSONEq(t, form, string(c.User.AppendJSON(nil)), "%s", text)
		require.Equal(t, users, c.Users(), "%s", text)
		require.True(t, c.Valid(), "of %s, for somebody", text)
	}
	for _, user := range append([]string{"", "stranger", "one", "two"}, users...) {
		check, err := s.Redemptions.CheckCode(t.Context(), redeem.CodeUse{Code: text, User: user, Units: 1}, nil)
		require.NoError(t, err)
		good := users == nil
		for _, u := range users {
			good = good || u == user
		}
		require.Equal(t, good, check.Valid(), "%s for %q", text, user)
		_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: text, User: user, Units: 1, Reference: "by " + user})
		require.Equal(t, good, err == nil, "%s for %q: %v", text, user, err)
	}
}

func codeUserForms(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "created", d.Clock.Now())
		lines := []string{storetest.PromotionLine("told", `,"start":"2020-01-01"`)}
		for i, form := range userForms {
			member := ""
			if form.json != "" {
				member = `,"user":` + form.json
			}
			lines = append(lines, storetest.CodeLine("told", "told-"+string(rune('a'+i)), member))
			var user code.User
			if form.json != "" {
				require.NoError(t, user.UnmarshalJSON([]byte(form.json)))
			}
			_, codes, err := s.Codes.Create(t.Context(), storetest.Actor, "created",
				[]code.NewCode{{Code: "created-" + string(rune('a'+i)), User: user}}, "")
			require.NoError(t, err, form.json)
			require.Equal(t, form.users, codes[0].Users(), form.json)
		}
		storetest.Import(t, s, strings.Join(lines, "\n"))
		text := storetest.Export(t, s)
		storetest.Import(t, s, text)
		require.Equal(t, text, storetest.Export(t, s), "an import of the export changes nothing")
		for i, form := range userForms {
			for _, id := range []string{"created", "told"} {
				requireForm(t, s, id, id+"-"+string(rune('a'+i)), form.json, form.users)
			}
			if form.json == "" || form.json == "null" {
				continue
			}
			require.Contains(t, text, `"user":`+form.json)
			var file bytes.Buffer
			_, err := s.Codes.Export(t.Context(), &file, "told", code.CodesNDJSON)
			require.NoError(t, err)
			require.Contains(t, file.String(), `"user":`+form.json)
		}
		for _, bad := range badUsers {
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.CodeLine("told", "bad", `,"user":`+bad.json)),
				exchange.ImportOptions{})
			require.Error(t, err, bad.json)
			require.Equal(t, bad.member, strings.Join(storetest.ImportErrors(t, err)[0].Err.Path, "."), "%.40s: %v", bad.json, err)
		}
		require.Equal(t, len(userForms), len(codesOf(t, s, "told")))
	}
}

// codeUserRows writes rows that the rules refuse. They can be read, listed, exported and
// deleted.
func codeUserRows(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		long := strings.Repeat("é", 127)
		rows := []struct {
			code, stored, form string
			users              []string
		}{
			{"empty", `""`, ``, nil}, {"none", `[]`, ``, nil}, {"blank", `[""]`, ``, nil}, {"null", `null`, ``, nil},
			{"some", `["one",""]`, `["one"]`, []string{"one"}}, {"one", `"one"`, `"one"`, []string{"one"}},
			{"a/b", ``, ``, nil}, {"..", ``, ``, nil}, {" x", ``, ``, nil}, {"\u202eon", ``, ``, nil}, {long, ``, ``, nil},
		}
		for i, row := range rows {
			require.NoError(t, storetest.AddCodes(s, "p", "new"))
			for _, table := range []string{"promotion_code", "code_claim"} {
				_, err := d.DB.Exec(`UPDATE ` + table + ` SET code = '` + row.code + `' WHERE code = 'new'`)
				require.NoError(t, err)
			}
			_, err := d.DB.Exec(`UPDATE promotion_code SET users = '` + row.stored + `' WHERE code = '` + row.code + `'`)
			require.NoError(t, err)
			requireForm(t, s, "p", row.code, row.form, row.users)
			require.Len(t, codesOf(t, s, "p"), i+1)
			var file bytes.Buffer
			for _, format := range []code.Format{code.CodesCSV, code.CodesNDJSON} {
				n, err := s.Codes.Export(t.Context(), &file, "p", format)
				require.NoError(t, err)
				require.Equal(t, i+1, n)
			}
		}
		_, err := d.DB.Exec(`UPDATE promotion_code SET users = '{broken' WHERE code = 'one'`)
		require.NoError(t, err)
		require.Len(t, codesOf(t, s, "p"), len(rows))
		check, err := s.Redemptions.CheckCode(t.Context(), redeem.CodeUse{Code: "one", User: "one", Units: 1}, nil)
		require.NoError(t, err)
		require.Equal(t, []code.Reason{code.CodeWrongUser}, reasons(check), "an unreadable user allows nobody")
		for _, row := range rows {
			n, err := s.Codes.Delete(t.Context(), storetest.Actor, "p", []string{row.code})
			require.NoError(t, err, row.code)
			require.Equal(t, 1, n)
		}
	}
}

func codeTexts(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		_, err := s.Promotions.Create(t.Context(), storetest.Actor, strings.Repeat("x", 64),
			promotion.Change{Name: new("Automatic"), Description: new(""), Type: new(rule.PercentDiscount), Automatic: new(true),
				Start: new("2020-01-01"), End: new("2100-01-01"), Schema: []byte(`{"percent":5}`)})
		require.NoError(t, err)
		for _, good := range []string{"A", "...", "a.b", "a b", "ÄÖ é", "10% off?", `back\slash`, "#1", "=1+1", "夏のセール",
			strings.Repeat("𝟘", 64), "\U0001F389"} {
			require.NoError(t, storetest.AddCodes(s, "p", good), good)
			c, err := s.Codes.Get(t.Context(), good)
			require.NoError(t, err, good)
			require.Equal(t, good, c.Code)
		}
		text := storetest.Export(t, s)
		storetest.Import(t, s, text)
		require.Equal(t, text, storetest.Export(t, s), "an automatic code may be longer than the limit of others")
		for _, bad := range []string{".", "..", "a/b", "/", " a", "a ", "\ta", "a\tb", "a\nb", "a\x7f", "a\u0085b", "a\u00a0b", "a\u200bb",
			"a\u200fb", "a\u061cb", "\u202egnp", "a\u2066b", "\ufeffa", "a\u2028b", "\x00", "\xff", "a\ufffdb", "a\u00adb",
			strings.Repeat("é", 65)} {
			err := storetest.AddCodes(s, "p", bad)
			require.Error(t, err, "%q", bad)
			require.Equal(t, "codes.0.code", strings.Join(store.AsErrors(err)[0].Path, "."), "%q: %v", bad, err)
			for _, c := range store.AsErrors(err)[0].Error() {
				require.False(t, c == '\u202e' || c == '\u2066', "the message of %q is safe to show", bad)
			}
			if bad == "\xff" || bad == "\x00" {
				continue // not valid in a JSON line
			}
			quoted, _ := json.Marshal(bad)
			_, err = s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"promotion_code","id":"bad","promotion_id":"p","code":`+string(quoted)+`}`), exchange.ImportOptions{})
			require.Error(t, err, "%q", bad)
			require.Equal(t, "code", strings.Join(storetest.ImportErrors(t, err)[0].Err.Path, "."), "%q: %v", bad, err)
		}
		for _, g := range []code.Generation{
			{Pattern: "a/####-####"}, {Pattern: " ####-####"}, {Pattern: "\u202e####-####"}, {Pattern: strings.Repeat("#", 65)},
			{Pattern: "##", Alphabet: "." + strings.Repeat("0123456789", 1) + "ABCDEFGHIJ"},
			{Alphabet: "ab/cdefghij"}, {Alphabet: "ab cdefghij"}, {Alphabet: "ab\u200fcdefghij"},
		} {
			g.PromotionID, g.Count = "p", 1
			_, _, err := s.Codes.Generate(t.Context(), storetest.Actor, g)
			require.Error(t, err, "%q %q", g.Pattern, g.Alphabet)
			require.Contains(t, []string{"pattern", "alphabet"}, store.AsErrors(err)[0].Path[0], "%v", err)
		}
	}
}

// codeCells checks that spreadsheets cannot take a cell of a CSV export for a formula.
func codeCells(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		const formula = "1+cmd|' /C calc'!A0"
		for _, first := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
			_, _, err := s.Codes.Create(t.Context(), storetest.Actor, "p",
				[]code.NewCode{{Code: first + "1", User: code.Users([]string{first + formula, "u2"})},
					{Code: "x" + first, User: code.OneCodeUser("\t" + first)},
					{Code: "y" + first, User: code.OneCodeUser("\r\n" + first), MaxUses: new(2)}}, "")
			require.NoError(t, err)
		}
		var file bytes.Buffer
		_, err := s.Codes.Export(t.Context(), &file, "p", code.CodesCSV)
		require.NoError(t, err)
		rows, err := csv.NewReader(&file).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 25)
		for _, row := range rows {
			for _, cell := range row {
				require.NotRegexp(t, `^[=+\-@＝＋－＠\t\r\n]`, cell)
			}
		}
		require.Equal(t, []string{"'+1", "", "", "0", "per_cart", "'+" + formula + " u2"}, rows[1][:6])
		file.Reset()
		_, err = s.Codes.Export(t.Context(), &file, "p", code.CodesNDJSON)
		require.NoError(t, err)
		require.Contains(t, file.String(), `"code":"=1"`, "JSON is not escaped for spreadsheets")
	}
}

// codesInvalid sends a batch with mistakes of each kind. The error must report all of them.
func codesInvalid(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		storetest.CreatePromotion(t, s, "q", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(s, "q", "taken"))
		before := storetest.Export(t, s)
		_, _, err := s.Codes.Create(t.Context(), storetest.Actor, "p",
			[]code.NewCode{{Code: "good"}, {Code: "taken", MaxUses: new(0)}, {Code: "a/b", User: code.OneCodeUser("")}, {}, {Code: "good"},
				{Code: "a/b"}, {Code: "fine", ConsumeUnit: "per_day"}}, "per_week")
		requireErrors(t, err, "INVALID consume_unit", "UNPROCESSABLE codes.1.uses", "UNPROCESSABLE codes.1.code", "UNPROCESSABLE codes.2.code",
			"UNPROCESSABLE codes.2.user",
			"UNPROCESSABLE codes.4.code", "UNPROCESSABLE codes.5.code", "INVALID codes.6.consume_unit")
		for i, e := range store.AsErrors(err) {
			require.Equal(t, i == 2 || i == 5, e.Reason == store.DuplicateCode, "%v", e)
		}
		many := make([]code.NewCode, 1000)
		for i := range many {
			many[i].Code = "taken"
		}
		_, _, err = s.Codes.Create(t.Context(), storetest.Actor, "p", many, "")
		require.Len(t, store.AsErrors(err), 21)
		require.ErrorContains(t, err, "980 more errors")
		require.Equal(t, before, storetest.Export(t, s), "nothing was written")
		_, err = s.Codes.Delete(t.Context(), storetest.Actor, "q", []string{"none", "taken", "nor"})
		requireErrors(t, err, "NOT_FOUND codes.0", "NOT_FOUND codes.2")

		change := storetest.TenPercentOff(d.Clock.Now())
		change.Automatic = new(true)
		_, err = s.Promotions.Create(t.Context(), storetest.Actor, "auto", change)
		require.NoError(t, err)
		err = storetest.AddCodes(s, "auto", "any")
		require.Equal(t, store.CodesNotAllowed, store.AsErrors(err)[0].Reason)
		_, _, err = s.Codes.Generate(t.Context(), storetest.Actor, code.Generation{PromotionID: "auto", Count: 1})
		require.Equal(t, store.CodesNotAllowed, store.AsErrors(err)[0].Reason)
		_, _, err = s.Codes.Generate(t.Context(), storetest.Actor, code.Generation{PromotionID: "nowhere", Count: 1})
		storetest.RequireError(t, err, store.NotFound, "promotion_id", "does not exist")
	}
}
