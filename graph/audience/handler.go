package audience

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
)

// Path is the path of the schema's text.
const Path = "/schema.graphql"

// Handler serves the schema's text at Path: text, as it is written, or with ?scopes=catalog:read,inventory:read what a token
// with these scopes may use. An empty value is a token without scopes. It reports an unknown scope as INVALID.
func (s *Schemas) Handler(text string, writeError auth.WriteError) http.Handler {
	tag := entityTag(text)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, tag := text, tag
		if values, ok := r.URL.Query()["scopes"]; ok {
			scopes, err := parseScopes(values)
			if err != nil {
				writeError(w, r, err)
				return
			}
			view := s.For(scopes)
			text, tag = view.Text(), view.ETag()
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8") // browsers display it
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	})
}

// parseScopes returns the scopes in values, which commas or spaces separate.
func parseScopes(values []string) (scopes []string, err error) {
	for _, value := range values {
		for scope := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !slices.Contains(access.Scopes(), scope) {
				return nil, store.Invalidf([]string{"scopes"}, "must be known scopes, separated by commas: %s; got %s",
					strings.Join(access.Scopes(), ", "), strconv.Quote(scope[:min(len(scope), 64)]))
			}
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}
