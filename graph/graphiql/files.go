// Package graphiql embeds the GraphiQL page and its bundle, which build.js writes to dist.
// The package playground serves them. It imports no other package of this module.
package graphiql

import (
	"embed"
	"io/fs"
)

// Files holds page.html, missing.html and, once the bundle was built, dist.
//
//go:embed page.html missing.html all:dist
var Files embed.FS

// Bundled reports whether all files of the bundle were built into the binary.
func Bundled() bool {
	for _, name := range []string{"graphiql.css", "graphiql.js", "licenses.txt"} {
		if _, err := fs.Stat(Files, "dist/"+name); err != nil {
			return false
		}
	}
	return true
}
