package playground

import (
	"net/http"

	"portico/graph/graphiql"
	"portico/internal/auth"
)

// GraphiQLPath is the path of GraphiQL. Its files are below.
const GraphiQLPath = "/graphiql"

// graphiqlTypes maps the files of GraphiQL's page to their content types.
var graphiqlTypes = map[string]string{
	"graphiql.css": "text/css; charset=utf-8",
	"graphiql.js":  "text/javascript; charset=utf-8",
	"licenses.txt": "text/plain; charset=utf-8",
}

// NewGraphiQL serves GraphiQL at GraphiQLPath and its files at GraphiQLPath/{part}.
// If the binary does not have the bundle, the page says how to build it.
// writeError reports an unknown file as NOT_FOUND.
func NewGraphiQL(writeError auth.WriteError, options ...Option) http.Handler {
	files := map[string]http.Handler{}
	page := "missing.html"
	if graphiql.Bundled() {
		page = "page.html"
		for name, contentType := range graphiqlTypes {
			files[name] = File(graphiql.Files, "dist/"+name, contentType)
		}
	}
	return pageWithFiles(Page(graphiql.Files, page, options...), files, "GraphiQL is at "+GraphiQLPath, writeError)
}
