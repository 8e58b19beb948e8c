// Package playground serves the playground at / and GraphiQL at /graphiql from embedded files.
// NewHandler and NewGraphiQL are the two pages; Page and File serve other embedded pages, such as
// the REST documentation. It must not import resolvers or the executor.
package playground

import (
	"embed"
	"net/http"
	"strconv"

	"portico/internal/auth"
	"portico/store"
)

// Path is the path of the playground's files. The page itself is at /.
const Path = "/playground"

// pageFiles are the page and its files. graph/editor/build.js bundles editor.js and licenses.txt.
//
//go:embed *.html *.css *.js *.graphql *.txt
var pageFiles embed.FS

// fileTypes maps the files of the page to their content types.
var fileTypes = map[string]string{
	"playground.css":   "text/css; charset=utf-8",
	"playground.js":    "text/javascript; charset=utf-8",
	"editor.js":        "text/javascript; charset=utf-8",
	"ids.js":           "text/javascript; charset=utf-8",
	"examples.graphql": "text/plain; charset=utf-8",
	"ids.graphql":      "text/plain; charset=utf-8",
	"licenses.txt":     "text/plain; charset=utf-8",
}

// NewHandler serves the playground at / and its files at Path/{part}. The page calls /graphql,
// /schema.graphql and /oauth/access_token. writeError reports an unknown file as NOT_FOUND.
func NewHandler(writeError auth.WriteError, options ...Option) http.Handler {
	files := map[string]http.Handler{}
	for name, contentType := range fileTypes {
		files[name] = File(pageFiles, name, contentType)
	}
	return pageWithFiles(Page(pageFiles, "index.html", options...), files, "the playground is at /", writeError)
}

// pageWithFiles serves a page, and its files as {part}. hint is part of the error for an unknown file.
func pageWithFiles(page http.Handler, files map[string]http.Handler, hint string, writeError auth.WriteError) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("part")
		if name == "" {
			page.ServeHTTP(w, r)
			return
		}
		file, ok := files[name]
		if !ok {
			writeError(w, r, &store.Error{Code: store.NotFound, Detail: "There is no " + strconv.Quote(r.URL.Path) + "; " + hint + "."})
			return
		}
		file.ServeHTTP(w, r)
	})
}
