package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// manifest returns flags for a manifest of one document, in a mode.
func manifest(t *testing.T, mode string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "documents.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"currency": "{ settings { currency } }"}`), 0o600))
	return []string{"--trusted-documents", file, "--trusted-documents-mode", mode}
}

// TestPlaygroundWithTrustedDocuments requires that the playground's examples run in all modes.
func TestPlaygroundWithTrustedDocuments(t *testing.T) {
	t.Parallel()
	for mode, typed := range map[string]int{"off": http.StatusOK, "log": http.StatusOK, "enforce": http.StatusForbidden} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, append(manifest(t, mode), "--demo")...)
			token := demoToken(t, s)
			ask := func(operation map[string]any, shopper ...string) (*http.Response, string) {
				body, err := json.Marshal(operation)
				require.NoError(t, err)
				return s.send(t, "POST", "/graphql", string(body), append(shopper, "Content-Type", "application/json", "Authorization",
					"Bearer "+token)...)
			}
			_, text := s.send(t, "GET", "/playground/examples.graphql", "")
			for _, example := range playgroundExamples(t, text) {
				query := strings.TrimSpace(regexp.MustCompile(`(?m)^# .*\n`).ReplaceAllString(example.query+"\n",
					"")) // without comments, as the page sends it
				if example.name == "live" {
					_, answer := streaming(t, s.url, token, map[string]any{"query": query, "variables": example.variables}).next()
					require.Contains(t, answer, `{"data":{"stockChanged":{"product":{"name":`)
					continue
				}
				response, answer := ask(map[string]any{"query": query, "variables": example.variables}, example.shopper...)
				require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", example.name, answer)
				require.NotContains(t, answer, `"errors"`, example.name)
			}
			response, answer := ask(map[string]any{"documentId": "currency"})
			require.Equal(t, http.StatusOK, response.StatusCode, answer)
			response, answer = ask(map[string]any{"query": "{ settings { locale } }"})
			require.Equal(t, typed, response.StatusCode, answer)
			require.Equal(t, typed == http.StatusForbidden, strings.Contains(answer, "the manifest of trusted documents"), answer)
			require.Zero(t, s.stop())
			told := 0
			for _, line := range s.log {
				if line["msg"] == "a document is not in the manifest" {
					told++
				}
			}
			require.Equal(t, map[string]int{"log": 1}[mode], told, "documents that the log tells of")
		})
	}
}

// seeTrusted runs an example, which is trusted, and a typed document, which is rejected with an
// explanation.
func seeTrusted(t *testing.T, b *browser, s *serverProcess) {
	b.do(t, chromedp.Navigate(s.url+"/#example=node&run"), chromedp.WaitReady(playgroundReady))
	b.until(t, `document.querySelector("#answer").textContent.includes("COF-FLW")`)
	b.write(t, "{ settings { locale } }", "")
	b.run(t)
	b.until(t, `document.querySelector("#errors").textContent.includes("the manifest of trusted documents")`)
	b.picture(t, "playground-trusted")
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Len(t, b.complaints, 1)
	require.Contains(t, b.complaints[0], "403") // logged by the browser
	b.complaints = nil
}
