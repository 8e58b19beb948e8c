package transport

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/99designs/gqlgen/graphql"
)

// writeResponse writes a response as JSON. The data is JSON already, and large data is not copied. A
// response with errors and without data has no member data: the operation did not run.
func writeResponse(w io.Writer, response *graphql.Response) {
	var b bytes.Buffer
	b.WriteByte('{')
	if len(response.Errors) > 0 {
		b.WriteString(`"errors":`)
		appendJSON(&b, response.Errors)
	}
	switch {
	case len(response.Data) > 0:
		if len(response.Errors) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"data":`)
		if len(response.Data) <= maxCopiedBytes {
			b.Write(response.Data)
			break
		}
		_, _ = w.Write(b.Bytes()) // an error means that the client is gone
		_, _ = w.Write(response.Data)
		b.Reset()
	case len(response.Errors) == 0:
		b.WriteString(`"data":null`)
	}
	if len(response.Extensions) > 0 {
		b.WriteString(`,"extensions":`)
		appendJSON(&b, response.Extensions)
	}
	b.WriteString("}\n")
	_, _ = w.Write(b.Bytes()) // an error means that the client is gone
}

// maxCopiedBytes is the size of data up to which one write with a copy is faster.
const maxCopiedBytes = 64 << 10

// appendJSON appends a value without escaping HTML.
func appendJSON(b *bytes.Buffer, value any) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		b.WriteString("null")
	}
}
