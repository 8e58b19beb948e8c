package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
)

// TestDocumentScannerText compares DocumentScanner.Text with encoding/json, for every
// escape and for texts that are no string.
func TestDocumentScannerText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `plain`, `\"`, `a\"b\\c\/d\be\ff\ng\rh\ti`, `\\`, `\\\"`, `é\n漢字`, `\u00e9`, `\n\u0041`, `\ud83d\udd28`, `\ud83d`,
		`\x`, `\`, "\x00", "a\nb\\n", "\xff\\n", "\xff", strings.Repeat(`<p class=\"x\">text<\/p>\n`, 100),
	} {
		var want string
		err := json.Unmarshal([]byte(`"`+text+`"`), &want)
		s := catalog.DocumentScanner{Input: text + `",`}
		got := s.Text()
		if strings.Contains(text, `\`) { // without an escape it is copied as it was written
			require.Equal(t, err != nil, s.Failed, "%q", text)
		}
		if err == nil && !s.Failed && strings.ToValidUTF8(text, "") == text {
			require.Equal(t, want, got, "%q", text)
			require.Equal(t, `,`, s.Input, "%q", text)
		}
	}
}

// TestDocumentScannerVariations compares DocumentScanner.Variations with encoding/json.
func TestDocumentScannerVariations(t *testing.T) {
	t.Parallel()
	option := catalog.VariationOption{ID: "l", Name: `Large ["L"]`, Description: "For 1\n<all>", SortOrder: -3}
	many := make([]catalog.VariationOption, 70)
	for i := range many {
		many[i] = catalog.VariationOption{ID: strings.Repeat("o", i+1), SortOrder: i}
	}
	for name, variations := range map[string][]catalog.Variation{
		"none":           {},
		"of a parent":    {{ID: "size", Name: "Size", SortOrder: 2, Options: []catalog.VariationOption{option, {ID: "m"}}}, {ID: "color", Options: many}},
		"of a child":     {{ID: "size", Name: "Size", SortOrder: -1, Option: &option, Options: []catalog.VariationOption{{ID: "m"}, option}}},
		"without a list": {{ID: "size", Option: &option}},
		"an empty list":  {{ID: "size", Options: []catalog.VariationOption{}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := catalog.DocumentScanner{Input: `"v":` + string(store.Encode(variations)) + `,"next":1`}
			require.Equal(t, variations, s.Variations(`"v":`))
			require.False(t, s.Failed)
			require.Equal(t, `,"next":1`, s.Input)
		})
	}
	for _, other := range []string{`[`, `[{}]`, `[{"id":"size","name":"Size","sort_order":1.5,"option":null,"options":[]}]`, `[{"name":"Size","id":"size"}]`, `null`, `[{"id":"size","name":"","sort_order":1,"option":null,"options":[`} {
		s := catalog.DocumentScanner{Input: other}
		s.Variations("")
		require.True(t, s.Failed, other)
	}
}
