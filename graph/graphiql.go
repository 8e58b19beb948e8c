package graph

import (
	"embed"
	"io/fs"
	"net/http"

	"portico/internal/auth"
)

// GraphiQLPath is where GraphiQL is, and below it what its page is made of.
const GraphiQLPath = "/graphiql"

// graphiqlFiles are the pages, and below dist what graphiql/build.js bundled;
// nothing is there until it has.
//
//go:embed graphiql/page.html graphiql/missing.html all:graphiql/dist
var graphiqlFiles embed.FS

// graphiqlTypes is every part of GraphiQL's page, and its content type.
var graphiqlTypes = map[string]string{
	"graphiql.css": "text/css; charset=utf-8",
	"graphiql.js":  "text/javascript; charset=utf-8",
	"licenses.txt": "text/plain; charset=utf-8",
}

// NewGraphiQL serves GraphiQL at GraphiQLPath, and its parts below, as {part}.
// Where it was not built into the binary, the page says how to do so. What is
// not there is NOT_FOUND, by writeError.
func NewGraphiQL(writeError auth.WriteError, options ...PlaygroundOption) http.Handler {
	parts := map[string]http.Handler{}
	for name, contentType := range graphiqlTypes {
		if file := "graphiql/dist/" + name; built(file) {
			parts[name] = PagePart(graphiqlFiles, file, contentType)
		}
	}
	page := "graphiql/page.html"
	if !hasGraphiQL() {
		page = "graphiql/missing.html"
	}
	greeting := GreetingPage(graphiqlFiles, page, options...)
	return pageOfParts(greeting, parts, "GraphiQL is at "+GraphiQLPath, writeError)
}

// hasGraphiQL tells whether GraphiQL is in the binary.
func hasGraphiQL() bool {
	for name := range graphiqlTypes {
		if !built("graphiql/dist/" + name) {
			return false
		}
	}
	return true
}

// built tells whether a part is in the binary.
func built(file string) bool {
	_, err := fs.Stat(graphiqlFiles, file)
	return err == nil
}
