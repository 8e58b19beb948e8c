package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
)

// TestDocumentScannerText holds Scan.Text against encoding/json, for every
// escape and for what is no string at all.
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
