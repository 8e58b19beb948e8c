package rest

import (
	"net/http"
	"strconv"

	"portico/store"
)

// jsonType is the Content-Type of every response.
var jsonType = []string{"application/json"}

// writeJSON writes a complete body.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client is gone
}

// writeData writes a resource, or a list of them, under data.
func writeData(w http.ResponseWriter, status int, resource any) error {
	writeJSON(w, status, append(appendResource([]byte(`{"data":`), resource), '}'))
	return nil
}

// appendResource appends a resource as JSON.
func appendResource(dst []byte, resource any) []byte { return append(dst, store.Encode(resource)...) }

// singleBody returns the body of a single resource under /catalog.
func singleBody(r *http.Request, resource any) []byte {
	return append(appendSelfLink(appendResource([]byte(`{"data":`), resource), r), '}')
}

// relationship is a reference to related resources and their path.
type relationship struct {
	Data  any            `json:"data"` // a reference, null, or an empty list
	Links map[string]any `json:"links"`
}

// resourceRef names a resource.
type resourceRef struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

func relatedLink(path string) map[string]any { return map[string]any{"related": path} }

// listRelationship is a relationship whose list is at a path.
func listRelationship(path string) relationship {
	return relationship{[]resourceRef{}, relatedLink(path)}
}

// appendSelfLink appends the link of a single resource.
func appendSelfLink(dst []byte, r *http.Request) []byte {
	dst = store.AppendString(append(dst, `,"links":{"self":`...), r.URL.EscapedPath())
	return append(dst, '}')
}

// appendComma appends a comma before all elements but the first.
func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
