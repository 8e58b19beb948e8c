package playground

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"portico/graph/graphiql"
)

// contentPolicy lets a page load and call this server only. No other site may frame it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Option configures a page.
type Option func(*pageData)

// pageData fills the template of a page. Token and ClientID are empty except in the demo.
type pageData struct {
	Token, ClientID string
	GraphiQL        bool // the binary has GraphiQL
}

// WithVisitor writes a token and its client's id into the page, for the demo only: everybody who
// opens the page by a loopback address gets them.
func WithVisitor(token, clientID string) Option {
	return func(d *pageData) { d.Token, d.ClientID = token, clientID }
}

// Page serves an HTML template. The visitor's token is in it only for requests to a loopback
// address that do not come from a script of another page.
func Page(files fs.FS, name string, options ...Option) http.Handler {
	data := pageData{GraphiQL: graphiql.Bundled()}
	public := renderPage(files, name, data)
	for _, option := range options {
		option(&data)
	}
	visitor := renderPage(files, name, data)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isLoopback(r.Host) && r.Header.Get("Origin") == "" { // a CORS request has an origin, and could read the token
			visitor.ServeHTTP(w, r)
			return
		}
		public.ServeHTTP(w, r)
	})
}

// renderPage serves a template with data, rendered once. It panics if the embedded template is invalid.
func renderPage(files fs.FS, name string, data pageData) http.Handler {
	var page bytes.Buffer
	source := template.Must(template.ParseFS(files, name))
	template.Must(source, source.Execute(&page, data))
	return serveContent(page.Bytes(), "text/html; charset=utf-8")
}

// File serves an embedded file. It is read, and takes memory, from the first request on.
func File(files fs.FS, name, contentType string) http.Handler {
	file := sync.OnceValue(func() http.Handler {
		content, _ := fs.ReadFile(files, name) // a test reads every file
		return serveContent(content, contentType)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { file().ServeHTTP(w, r) })
}

// serveContent serves bytes that browsers cache and revalidate each time, because another version
// of the server has other content at the same path.
func serveContent(content []byte, contentType string) http.Handler {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("ETag", tag)
		header.Set("Cache-Control", "no-cache")
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("Referrer-Policy", "no-referrer")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// isLoopback reports whether a Host header names this machine. A name of another site could
// resolve to it too, and that site's scripts would read the response.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
