package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlineRecorder keeps the last write deadline.
type deadlineRecorder struct {
	http.ResponseWriter
	deadline time.Time
}

// SetWriteDeadline is called by http.ResponseController.
func (r *deadlineRecorder) SetWriteDeadline(t time.Time) error {
	r.deadline = t
	return nil
}

// TestEvictedResponseStaysEvicted evicts a response between two of its writes: the second does not extend its deadline again.
func TestEvictedResponseStaysEvicted(t *testing.T) {
	t.Parallel()
	recorder := &deadlineRecorder{ResponseWriter: httptest.NewRecorder()}
	enforceDeadlines(Limits{ResponseTime: time.Hour}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte("a"))
		require.NoError(t, err)
		require.True(t, recorder.deadline.After(time.Now()))
		deadlineWriterOf(w).abort()
		_, err = w.Write([]byte("b"))
		require.NoError(t, err)
		require.True(t, recorder.deadline.Before(time.Now()), "%s", recorder.deadline)
	})).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
}
