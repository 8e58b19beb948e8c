package rest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/swaggest/swgui/v5emb"
)

//go:embed openapi.yaml
var openAPI []byte

// Where REST is documented.
const (
	OpenAPIPath = "/openapi.yaml"
	DocsPath    = "/docs"
)

// OpenAPI answers OpenAPIPath: the OpenAPI 3.1 document of the REST paths.
func OpenAPI() http.Handler {
	sum := sha256.Sum256(openAPI)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(openAPI))
	})
}

// Docs answers DocsPath and what is below it: the document as a page, which
// needs nothing from elsewhere.
func Docs() http.Handler { return v5emb.New("Portico REST", OpenAPIPath, DocsPath) }
