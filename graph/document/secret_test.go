package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"portico/graph/limits"
	"portico/store/storetest/testkit"
)

// requireNoSecret requires that no error of a document and its variables has a word of the secret.
func requireNoSecret(t *testing.T, processor *Processor, query string, variables map[string]json.RawMessage, words ...string) int {
	t.Helper()
	_, errs := processor.parse(query)
	if variables != nil {
		document, err := parser.ParseQuery(&ast.Source{Input: query})
		require.NoError(t, err)
		_, errs = coerceVariables(processor.Schema, document.Operations[0], variables, processor.Limits.Name)
	}
	text, err := json.Marshal(errs)
	require.NoError(t, err)
	for _, word := range words {
		require.NotContains(t, string(text), word, "%s %s", query, variables)
	}
	return len(errs)
}

// No error has a value that was sent, at each place of the schema: a literal, a default, a variable of any type, and those within lists
// and objects, known and unknown members.
func TestErrorsHaveNoValues(t *testing.T) {
	t.Parallel()
	processor := NewProcessor(Config{Schema: Schema(), Limits: limits.Defaults()})
	all, refused := places(processor.Schema), 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of := all[name]
		members := []string{"unknown"}
		for _, field := range processor.Schema.Types[of.Name()].Fields {
			members = append(members, field.Name)
		}
		for _, member := range members {
			for _, literal := range []string{`"hunter2"`, `"""hunter2"""`, `hunter2`, `4711`, `47.11`, `["hunter2"]`, `{` + member + `: "hunter2"}`, `[{` + member + `: hunter2}]`, `{` + member + `: [4711]}`} {
				refused += requireNoSecret(t, processor, fmt.Sprintf(`query ($v: %s = %s) { products(filter: $v) { totalCount } }`, of, literal), nil, "hunter2", "4711", "47.11")
				if !strings.Contains(literal, `hunter2"`) && strings.Contains(literal, `hunter2`) || strings.Contains(literal, `"""`) {
					continue // no JSON
				}
				value := strings.ReplaceAll(literal, member+":", `"`+member+`":`)
				refused += requireNoSecret(t, processor, fmt.Sprintf(`query ($v: %s) { products(filter: $v) { totalCount } }`, of),
					map[string]json.RawMessage{"v": json.RawMessage(value)}, "hunter2", "4711", "47.11")
			}
		}
	}
	require.Greater(t, refused, 10_000)
}

// No error of a damaged document has a word of a string in it.
func TestSyntaxErrorsHaveNoText(t *testing.T) {
	t.Parallel()
	processor := NewProcessor(Config{Schema: Schema(), Limits: limits.Defaults()})
	random := rand.New(rand.NewPCG(testkit.Seed(t), 1))
	const before, after = `mutation Change($slug: GatewaySlug!) { gatewayUpdate(input: {slug: $slug, password: "`, `", enabled: true}) { gateway { name } userErrors { message } } }`
	damage := func(text string) string {
		at := random.IntN(len(text))
		return text[:at] + []string{"", `"`, `\`, "{", "}", "\x01", "é", "0", `"""`}[random.IntN(9)] + text[at+random.IntN(2):]
	}
	for range testkit.QuickOrFull(3_000, 100_000) {
		first, last := before, after
		for range 1 + random.IntN(2) {
			if random.IntN(2) == 0 {
				first = damage(first)
			} else {
				last = damage(last)
			}
		}
		requireNoSecret(t, processor, first+"correct horse 4711"+last, nil, "correct", "horse", "4711")
	}
}

// A literal for a secret is refused at each place that takes one, and a variable is not.
func TestSecretsAreSentByVariables(t *testing.T) {
	t.Parallel()
	processor := NewProcessor(Config{Schema: Schema(), Limits: limits.Defaults()})
	found := 0
	for _, definition := range processor.Schema.Types {
		for _, field := range definition.Fields {
			if definition.Kind == ast.InputObject && field.Type.Name() == secretValue {
				found++
				for literal, fails := range map[string]bool{`"x"`: true, `["x"]`: true, `{a: "x"}`: true, `5`: true, `$v`: false, `null`: field.Type.NonNull} {
					_, errs := processor.parse(fmt.Sprintf(`query ($w: %s = {%s: %s}, $v: Secret) { __typename }`, definition.Name, field.Name, literal))
					refused := strings.Contains(fmt.Sprint(errs), "w."+field.Name+": The value is secret: send it by a variable.")
					require.Equal(t, fails, refused, "%s: %v", literal, errs)
				}
			}
		}
	}
	require.Positive(t, found)
}
