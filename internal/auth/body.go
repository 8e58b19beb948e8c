package auth

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"portico/store"
)

// ReadBody reads a whole body of at most limit bytes and appends it to buffer. The error is a *StatusError: 415 for an
// encoded body, 413 if it is too long, 408 if it took too long, 400 if it is incomplete, 503 if the server is
// overloaded. After 413 and 408 the connection closes.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64, buffer []byte) ([]byte, error) {
	if err := checkEncoding(w, r); err != nil {
		return nil, err
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit), r.ContentLength, buffer)
	tooLarge, overloaded := new(http.MaxBytesError), new(store.Error)
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, &StatusError{http.StatusRequestEntityTooLarge, invalid("The body is larger than %s. Send less at once.", formatBytes(tooLarge.Limit))}
	case errors.As(err, &overloaded):
		w.Header().Set("Retry-After", "1")
		return nil, &StatusError{http.StatusServiceUnavailable, overloaded}
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, &StatusError{http.StatusRequestTimeout, invalid("The body did not arrive in time. Retry, or send less at once.")}
	}
	return nil, &StatusError{http.StatusBadRequest, invalid("The body is incomplete. Retry.")}
}

// maxEncoding is the number of bytes of a Content-Encoding that an error quotes.
const maxEncoding = 64

// checkEncoding rejects a body with a Content-Encoding other than identity: limits count the bytes sent.
func checkEncoding(w http.ResponseWriter, r *http.Request) error {
	sent := strings.Join(r.Header["Content-Encoding"], ", ")
	if sent == "" || strings.EqualFold(sent, "identity") {
		return nil
	}
	w.Header().Set("Accept-Encoding", "identity") // RFC 9110, 12.5.3
	return &StatusError{http.StatusUnsupportedMediaType, invalid(
		"Request bodies must not be compressed, got Content-Encoding: %.*s. Send the body uncompressed, without this header.", maxEncoding, sent)}
}

// readAll reads to the end and appends to buffer; length is the announced length, or -1.
func readAll(from io.Reader, length int64, buffer []byte) ([]byte, error) {
	const maxTrusted = 64 << 10 // of the announced length
	buffer = slices.Grow(buffer, int(min(max(length, 0), maxTrusted))+1)
	for {
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buffer, nil
		case err != nil:
			return buffer, err
		case len(buffer) == cap(buffer):
			buffer = slices.Grow(buffer, len(buffer))
		}
	}
}

// formatBytes formats a limit.
func formatBytes(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
