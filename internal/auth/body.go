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

// ReadBody reads a body of at most limit bytes, whole, behind what is in room.
// The error is a
// *StatusError that says how to do better: 415 where it is encoded, 413 where it
// is longer, 408 where it did not come in time, 400 where it broke off, 503 where
// its turn did not come. After 413 and 408 the connection closes.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64, room []byte) ([]byte, error) {
	if err := checkEncoding(w, r); err != nil {
		return nil, err
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit), r.ContentLength, room)
	tooLarge, noTurn := new(http.MaxBytesError), new(store.Error)
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, &StatusError{http.StatusRequestEntityTooLarge, invalid("The body is over %s; send less at a time.", formatBytes(tooLarge.Limit))}
	case errors.As(err, &noTurn):
		w.Header().Set("Retry-After", "1")
		return nil, &StatusError{http.StatusServiceUnavailable, noTurn}
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, &StatusError{http.StatusRequestTimeout, invalid("The body did not come in time; send it again, faster, or less of it.")}
	}
	return nil, &StatusError{http.StatusBadRequest, invalid("The body broke off before its end; send it again.")}
}

// maxEncoding is how much of a Content-Encoding an error quotes, in bytes.
const maxEncoding = 64

// checkEncoding refuses a body with a Content-Encoding other than identity:
// the bounds on bodies count the bytes that are sent.
func checkEncoding(w http.ResponseWriter, r *http.Request) error {
	sent := strings.Join(r.Header["Content-Encoding"], ", ")
	if sent == "" || strings.EqualFold(sent, "identity") {
		return nil
	}
	w.Header().Set("Accept-Encoding", "identity") // RFC 9110, 12.5.3
	return &StatusError{http.StatusUnsupportedMediaType, invalid(
		"The body has Content-Encoding: %.*s, and request bodies must not be compressed; send it uncompressed, without the header Content-Encoding.", maxEncoding, sent)}
}

// readAll reads to the end, into the room that there is as far as that goes;
// length is how long it is said to be, or -1.
func readAll(from io.Reader, length int64, room []byte) ([]byte, error) {
	const most = 64 << 10 // made room for on a word alone
	room = slices.Grow(room, int(min(max(length, 0), most))+1)
	for {
		n, err := from.Read(room[len(room):cap(room)])
		room = room[:len(room)+n]
		switch {
		case errors.Is(err, io.EOF):
			return room, nil
		case err != nil:
			return room, err
		case len(room) == cap(room):
			room = slices.Grow(room, len(room))
		}
	}
}

// formatBytes is a bound as people read it.
func formatBytes(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
