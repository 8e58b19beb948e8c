package rest

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/swaggest/swgui/v5emb"

	"portico/graph/playground"
	"portico/internal/auth"
	"portico/store"
)

//go:embed openapi.yaml
var openAPI []byte

// Paths of the REST documentation.
const (
	OpenAPIPath = "/openapi.yaml"
	DocsPath    = "/docs"
)

// OpenAPI serves the OpenAPI 3.1 document at OpenAPIPath.
func OpenAPI() http.Handler {
	sum := sha256.Sum256(openAPI)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(openAPI))
	})
}

// docsFiles are the documentation page's files that this repository has.
//
//go:embed docs
var docsFiles embed.FS

// docsContentTypes are the content types of docsFiles.
var docsContentTypes = map[string]string{
	"docs.css": "text/css; charset=utf-8",
	"docs.js":  "text/javascript; charset=utf-8",
}

// Docs serves the documentation page at DocsPath and below, without resources from
// elsewhere. Other paths are NOT_FOUND.
func Docs(writeError auth.WriteError, options ...playground.Option) http.Handler {
	page := playground.Page(docsFiles, "docs/index.html", options...)
	parts := map[string]http.Handler{DocsPath: page, DocsPath + "/": page}
	for name, contentType := range docsContentTypes {
		parts[DocsPath+"/"+name] = playground.File(docsFiles, "docs/"+name, contentType)
	}
	viewer := v5emb.New("", OpenAPIPath, DocsPath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if part, ours := parts[r.URL.Path]; ours {
			part.ServeHTTP(w, r)
			return
		}
		found := &notFoundInterceptor{ResponseWriter: w}
		viewer.ServeHTTP(found, r)
		if found.missing {
			writeError(w, r, &store.Error{Code: store.NotFound, Detail: "There is no " + strconv.Quote(r.URL.Path) + ". The documentation is at " + DocsPath + "."})
		}
	})
}

// notFoundInterceptor suppresses a 404 response, so that the caller can write its own.
type notFoundInterceptor struct {
	http.ResponseWriter
	missing bool // the handler wrote 404
}

// WriteHeader implements http.ResponseWriter.
func (f *notFoundInterceptor) WriteHeader(status int) {
	if f.missing = status == http.StatusNotFound; !f.missing {
		f.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (f *notFoundInterceptor) Write(body []byte) (int, error) {
	if f.missing {
		return len(body), nil
	}
	return f.ResponseWriter.Write(body)
}

// Unwrap gives http.ResponseController access to the connection.
func (f *notFoundInterceptor) Unwrap() http.ResponseWriter { return f.ResponseWriter }
