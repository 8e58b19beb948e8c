package graph

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"portico/internal/auth"
	"portico/store"
)

// PlaygroundPath is where the playground's parts are; the page itself is at /.
const PlaygroundPath = "/playground"

// playgroundFiles are the page and its parts. editor.js and licenses.txt are
// bundled by graph/editor/build.js.
//
//go:embed playground
var playgroundFiles embed.FS

// playgroundTypes is every part of the playground's page, and its content type.
var playgroundTypes = map[string]string{
	"playground.css":   "text/css; charset=utf-8",
	"playground.js":    "text/javascript; charset=utf-8",
	"editor.js":        "text/javascript; charset=utf-8",
	"ids.js":           "text/javascript; charset=utf-8",
	"examples.graphql": "text/plain; charset=utf-8",
	"ids.graphql":      "text/plain; charset=utf-8",
	"licenses.txt":     "text/plain; charset=utf-8",
}

// playgroundPolicy lets the page load and ask what is this server's own, and
// nothing else; no other page may show it in a frame.
const playgroundPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// PlaygroundOption changes what the playground begins with.
type PlaygroundOption func(*visitor)

// visitor is what a page is filled with: the token and client of who opens it,
// empty but in the demo, and whether the binary has GraphiQL.
type visitor struct {
	Token, ClientID string
	GraphiQL        bool
}

// WithVisitor puts a token, and the id of the client it is for, into the page.
// Whoever can open the page by a name of this machine then has them: it is for
// the demo only.
func WithVisitor(token, clientID string) PlaygroundOption {
	return func(v *visitor) { v.Token, v.ClientID = token, clientID }
}

// NewPlayground serves the playground at /, and its parts below PlaygroundPath,
// as {part}. All of it is in the binary. It asks for /graphql,
// /schema.graphql and /oauth/access_token. What is not there is NOT_FOUND, by
// writeError.
func NewPlayground(writeError auth.WriteError, options ...PlaygroundOption) http.Handler {
	greeting := GreetingPage(playgroundFiles, "playground/index.html", options...)
	parts := map[string]http.Handler{}
	for name, contentType := range playgroundTypes {
		parts[name] = PagePart(playgroundFiles, "playground/"+name, contentType)
	}
	return pageOfParts(greeting, parts, "the playground is at /", writeError)
}

// exampleLines are what the playground's page takes from its examples before it
// sends them.
var exampleLines = regexp.MustCompile(`(?m)^# .*\n`)

// playgroundDocuments are the documents of the playground's own: its examples and
// what fills their variables, as its page sends them.
func playgroundDocuments() (documents []string) {
	ids, _ := playgroundFiles.ReadFile("playground/ids.graphql")
	documents = append(documents, strings.TrimSpace(exampleLines.ReplaceAllString(string(ids), "")))
	text, _ := playgroundFiles.ReadFile("playground/examples.graphql")
	for _, example := range strings.Split("\n"+string(text), "\n# example: ")[1:] {
		_, query, _ := strings.Cut(example, "\n")
		documents = append(documents, strings.TrimSpace(exampleLines.ReplaceAllString(query+"\n", "")))
	}
	return documents
}

// pageOfParts serves a page, and its parts as {part}. What is not there is
// NOT_FOUND, by writeError, which tells the way.
func pageOfParts(page http.Handler, parts map[string]http.Handler, way string, writeError auth.WriteError) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("part")
		part, found := parts[name]
		switch {
		case name == "":
			part = page
		case !found:
			writeError(w, r, &store.Error{Code: store.NotFound, Detail: "There is no " + strconv.Quote(r.URL.Path) + " here; " + way + "."})
			return
		}
		part.ServeHTTP(w, r)
	})
}

// GreetingPage is a page that holds what is known of its visitor, if it is one
// of this machine who opens it.
func GreetingPage(files fs.FS, name string, options ...PlaygroundOption) http.Handler {
	known := visitor{GraphiQL: hasGraphiQL()}
	anyone := filledPage(files, name, known)
	for _, option := range options {
		option(&known)
	}
	visited := filledPage(files, name, known)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if byLoopback(r.Host) && !fromAPage(r) {
			visited.ServeHTTP(w, r)
			return
		}
		anyone.ServeHTTP(w, r)
	})
}

// filledPage is a page as a visitor sees it.
func filledPage(files fs.FS, name string, v visitor) http.Handler {
	var page bytes.Buffer
	source := template.Must(template.ParseFS(files, name))
	template.Must(source, source.Execute(&page, v))
	return pagePart(page.Bytes(), "text/html; charset=utf-8")
}

// PagePart answers with an embedded file, which whoever asks first has read:
// until then it is no part of the server's memory.
func PagePart(files fs.FS, name, contentType string) http.Handler {
	part := sync.OnceValue(func() http.Handler {
		content, _ := fs.ReadFile(files, name) // a test reads them all
		return pagePart(content, contentType)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { part().ServeHTTP(w, r) })
}

// pagePart answers with what a browser may keep, but asks about each
// time: another version of the server has other parts by the same names.
func pagePart(content []byte, contentType string) http.Handler {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("ETag", tag)
		header.Set("Cache-Control", "no-cache")
		header.Set("Content-Security-Policy", playgroundPolicy)
		header.Set("Referrer-Policy", "no-referrer")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// fromAPage tells whether another page's script asks, which CORS may let read
// the answer; whoever opens the page itself sends no origin.
func fromAPage(r *http.Request) bool { return r.Header.Get("Origin") != "" }

// byLoopback tells whether a request names this machine by itself. Another
// site's name can be made to lead here, and its pages would read the answer.
func byLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
