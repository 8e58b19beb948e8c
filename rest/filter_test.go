package rest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/rule"
	"portico/store/release"
)

func TestParseFilter(t *testing.T) {
	t.Parallel()
	one := func(operator, attribute string, values ...string) []condition {
		return []condition{{operator, attribute, values}}
	}
	ten := strings.Repeat("eq(sku,A):", 9) + "eq(sku,A)"
	for _, test := range []struct {
		name, text string
		want       []condition
	}{
		{"a condition", `eq(sku,A1)`, one("eq", "sku", "A1")},
		{"several values", `in(sku,A1,B2,C3)`, one("in", "sku", "A1", "B2", "C3")},
		{"an attribute with dots, dashes and digits", `eq(extensions.x-1.y_2,A)`, one("eq", "extensions.x-1.y_2", "A")},
		{"an operator and attribute that do not exist", `NE(Colour,red)`, one("NE", "Colour", "red")},
		{"two conditions", `eq(sku,A):in(tags,b,c)`, []condition{{"eq", "sku", []string{"A"}}, {"in", "tags", []string{"b", "c"}}}},
		{"two conditions joined by a comma", `eq(name,Classic Vest),eq(sku,M-1)`,
			[]condition{{"eq", "name", []string{"Classic Vest"}}, {"eq", "sku", []string{"M-1"}}}},
		{"a comma, a colon and a comma", `in(tags,b,c) , eq(sku,A):eq(name,"a,b"),eq(slug,d)`,
			[]condition{{"in", "tags", []string{"b", "c"}}, {"eq", "sku", []string{"A"}}, {"eq", "name", []string{"a,b"}},
				{"eq", "slug", []string{"d"}}}},
		{"space around the parts", " eq ( sku\t, A 1 , B ) : eq(tags,c) ",
			[]condition{{"eq", "sku", []string{"A 1 ", "B "}}, {"eq", "tags", []string{"c"}}}},
		{"space within a value", `eq(name,Classic  Vest)`, one("eq", "name", "Classic  Vest")},
		{"space at the end of a value", "in(name,Classic Vest ,b\t)", one("in", "name", "Classic Vest ", "b\t")},
		{"space after commas", `in(sku, a,  b)`, one("in", "sku", "a", "b")},
		{"space around quotes", `in(name, " a" , "b " )`, one("in", "name", " a", "b ")},
		{"colons in a value", `gt(updated_at,2024-01-01T12:34:56.789)`, one("gt", "updated_at", "2024-01-01T12:34:56.789")},
		{"a colon and a parenthesis in a value", `eq(name,"a):eq(b,c")`, one("eq", "name", "a):eq(b,c")},
		{"quoted", `eq(name,"a b")`, one("eq", "name", "a b")},
		{"quoted space is kept", `eq(name," a ")`, one("eq", "name", " a ")},
		{"an empty text", `eq(name,"")`, one("eq", "name", "")},
		{"escaped quotes and backslashes", `eq(name,"a \"b\" \\ c")`, one("eq", "name", `a "b" \ c`)},
		{"another escaped character", `eq(name,"\a")`, one("eq", "name", "a")},
		{"a backslash outside of quotes", `eq(name,a\b)`, one("eq", "name", `a\b`)},
		{"non-ASCII letters", `eq(name,筆刷 é 🔨)`, one("eq", "name", "筆刷 é 🔨")},
		{"a star", `like(sku,*A*)`, one("like", "sku", "*A*")},
		{"a line break", "eq(name,a\nb)", one("eq", "name", "a\nb")},
		{"bytes that are not text", "eq(name,\xff\x00)", one("eq", "name", "\xff\x00")},
		{"the same condition twice", `eq(sku,A):eq(sku,A)`, []condition{{"eq", "sku", []string{"A"}}, {"eq", "sku", []string{"A"}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseFilter(test.text)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	got, err := parseFilter(ten)
	require.NoError(t, err)
	require.Len(t, got, store.MaxFilterTerms)
}

func TestParseFilterErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"nothing", ``, `has nothing at byte 0, where an operator such as eq or in is expected`},
		{"space", `  `, `has nothing at byte 2, where an operator such as eq or in is expected`},
		{"a parenthesis", `(`, `has nothing at byte 0, where an operator such as eq or in is expected`},
		{"only an operator", `eq`, `ends where '(' is expected after the operator eq`},
		{"another parenthesis", `eq[sku,A]`, `has '[' at byte 2, where '(' is expected after the operator eq`},
		{"no attribute", `eq(`, `has nothing at byte 3, where an attribute such as sku is expected`},
		{"an empty attribute", `eq(,A)`, `has nothing at byte 3, where an attribute such as sku is expected`},
		{"an attribute alone", `eq(sku`, `ends where ',' is expected after sku or one of its values, or the closing ')'`},
		{"no value", `eq(sku,`, `has no value at byte 7; write "" for an empty one`},
		{"an empty value", `eq(sku,)`, `has no value at byte 7; write "" for an empty one`},
		{"an empty value between others", `in(sku,A,,B)`, `has no value at byte 9; write "" for an empty one`},
		{"an empty value at the end", `in(sku,A,)`, `has no value at byte 9; write "" for an empty one`},
		{"a value of spaces", `eq(sku,  )`, `has no value at byte 9; write "" for an empty one`},
		{"no closing parenthesis", `eq(sku,A`, `ends where ',' is expected after sku or one of its values, or the closing ')'`},
		{"a parenthesis too many", `eq(sku,A))`, `has ')' at byte 9, where ':' is expected between two conditions, or the filter's end`},
		{"a parenthesis in a value", `eq(sku,A(B))`,
			`has '(' at byte 8, where ',' is expected after sku or one of its values, or the closing ')'`},
		{"a quote in a value", `eq(sku,A"B")`, `has '"' at byte 8, where ',' is expected after sku or one of its values, or the closing ')'`},
		{"more after a quoted value", `eq(sku,"A"B)`,
			`has 'B' at byte 10, where ',' is expected after sku or one of its values, or the closing ')'`},
		{"a quote that is never closed", `eq(sku,"A)`, `has an unclosed quote at byte 7`},
		{"a quote closed by an escaped one", `eq(sku,"A\")`, `has an unclosed quote at byte 7`},
		{"a quote that ends in a backslash", `eq(sku,"A\`, `has an unclosed quote at byte 7`},
		{"nothing after a colon", `eq(sku,A):`, `has nothing at byte 10, where an operator such as eq or in is expected`},
		{"two colons", `eq(sku,A)::eq(sku,B)`, `has nothing at byte 10, where an operator such as eq or in is expected`},
		{"nothing after a comma", `eq(sku,A),`, `has nothing at byte 10, where an operator such as eq or in is expected`},
		{"a comma and a colon", `eq(sku,A),:eq(sku,B)`, `has nothing at byte 10, where an operator such as eq or in is expected`},
		{"a condition within another", `in(sku,A,eq(sku,B))`,
			`has '(' at byte 11, where ',' is expected after sku or one of its values, or the closing ')'`},
		{"eleven conditions joined by commas", strings.Repeat("eq(sku,A),", 10) + "eq(sku,A)", `has more than 10 conditions`},
		{"eleven conditions", strings.Repeat("eq(sku,A):", 10) + "eq(sku,A)", `has more than 10 conditions`},
		{"too long", strings.Repeat("x", maxFilterBytes+1), `has 65537 bytes, at most 65536 are allowed`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseFilter(test.text)
			require.Empty(t, got)
			require.Equal(t, &store.Error{Code: store.Invalid, Path: []string{"filter"}, Detail: test.want}, err)
		})
	}
}

// TestProductFilters covers filters that parse but are invalid for products.
func TestProductFilters(t *testing.T) {
	t.Parallel()
	attributes := strings.Join(release.FilterAttributes(), ", ")
	for _, test := range []struct{ name, text, want string }{
		{"eq", `eq(sku,A)`, ""},
		{"in", `in(id,A,B)`, ""},
		{"bounds", `gt(id,A):le(updated_at,2024-01-01)`, ""},
		{"space at the end of an id and a time", `gt(id,A ):le(updated_at, 2024-01-01 )`, ""},
		{"an unknown operator", `like(sku,*A*)`, `has the unknown operator "like"; use one of eq, in, gt, ge, lt, le`},
		{"an operator in capitals", `EQ(sku,A)`, `has the unknown operator "EQ"; use one of eq, in, gt, ge, lt, le`},
		{"an unknown attribute", `eq(price,1)`, `has the unknown attribute "price"; use one of ` + attributes},
		{"a sort key that eq does not know", `eq(updated_at,2024-01-01)`,
			`has the unknown attribute "updated_at"; use one of ` + attributes},
		{"eq with id", `eq(id,A)`, `compares id with eq; use in(id,…)`},
		{"eq with two values", `eq(sku,A,B)`, `has eq(sku,…) with 2 values; use one, or in(sku,…) for several`},
		{"a bound with two values", `gt(id,A,B)`, `has gt(id,…) with 2 values; use one`},
		{"a bound on an attribute that is not a sort key", `gt(sku,A)`, `compares "sku" with gt, which supports only id, created_at and updated_at`},
		{"an invalid time", `ge(created_at,2024-13-01)`,
			`compares created_at with "2024-13-01", which is not a time; use the form 2012-05-30T00:00:00.000Z`},
	} {
		t.Run(test.name, func(t *testing.T) {
			filter, err := productFilter(test.text)
			if test.want == "" {
				require.NoError(t, err)
				require.NotNil(t, filter)
				return
			}
			require.Equal(t, &store.Error{Code: store.Invalid, Path: []string{"filter"}, Detail: test.want}, err)
		})
	}
}

func TestEmptyFilter(t *testing.T) {
	t.Parallel()
	filter, err := productFilter("")
	require.NoError(t, err)
	require.Nil(t, filter)
	bounds, err := listBounds("")
	require.NoError(t, err)
	require.Nil(t, bounds)
}

func TestEveryFilterAttributeIsDocumented(t *testing.T) {
	t.Parallel()
	_, described, found := strings.Cut(string(openAPI), "\n    ProductFilter:\n")
	require.True(t, found)
	described, _, _ = strings.Cut(described, "schema:")
	for _, attribute := range release.FilterAttributes() {
		require.Contains(t, described, "`"+attribute+"`", "%s is not in the description of the parameter filter", attribute)
	}
}

// TestEveryPromotionTypeIsDocumented requires the types in openapi.yaml in the store's order.
func TestEveryPromotionTypeIsDocumented(t *testing.T) {
	t.Parallel()
	_, documented, found := strings.Cut(string(openAPI), "    DiscountType:\n      type: string\n      enum: [")
	require.True(t, found)
	documented, _, _ = strings.Cut(documented, "]")
	var names []string
	for _, name := range rule.PromotionTypes() {
		names = append(names, string(name))
	}
	require.Equal(t, strings.Join(names, ", "), strings.Join(strings.Fields(documented), " "))
}
