package middleware_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
)

func TestLimitBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		body      string
		announced bool
		read      string // bytes read
		refused   bool
	}{
		{"as long as it may be", "12345", true, "12345", false},
		{"too long, as it says itself", "123456", true, "", true},
		{"too long, as it turns out", "123456", false, "12345", true},
		{"none", "", true, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := middleware.LimitBody(5)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				read, err := io.ReadAll(r.Body)
				require.Equal(t, test.read, string(read))
				if !test.refused {
					require.NoError(t, err)
					return
				}
				var tooLong *http.MaxBytesError
				require.ErrorAs(t, err, &tooLong)
				require.EqualValues(t, 5, tooLong.Limit)
				w.WriteHeader(http.StatusRequestEntityTooLarge)
			}))
			server := httptest.NewServer(handler)
			defer server.Close()
			body := io.Reader(strings.NewReader(test.body))
			if !test.announced {
				body = io.MultiReader(body) // hides the length
			}
			response, err := http.Post(server.URL, "application/json", body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, test.refused, response.StatusCode == http.StatusRequestEntityTooLarge)
		})
	}
}

// TestClientsThatReadLateSeeTheResponse requires that a client that reads nothing before it sent its whole body gets the
// response, whatever the handler read of the body.
func TestClientsThatReadLateSeeTheResponse(t *testing.T) {
	t.Parallel()
	const limit = 1 << 10
	server := httptest.NewServer(middleware.LimitBody(limit)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			_, _ = io.ReadAll(r.Body)
		}
		w.WriteHeader(http.StatusTeapot)
	})))
	defer server.Close()
	// send returns the response of a request with a body of some bytes, and an error if it was not sent completely.
	send := func(t *testing.T, path string, size int, headers string) (*http.Response, error) {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: portico\r\n%s\r\n", path, headers)
		if !strings.Contains(headers, "Expect") {
			if strings.Contains(headers, "chunked") {
				fmt.Fprintf(conn, "%x\r\n", size)
			}
			if _, err := conn.Write(make([]byte, size)); err != nil {
				return nil, err
			}
			if strings.Contains(headers, "chunked") {
				fmt.Fprint(conn, "\r\n0\r\n\r\n")
			}
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			require.NoError(t, response.Body.Close())
		}
		return response, err
	}
	const large = 8 << 20 // more than the buffers of a connection
	for _, path := range []string{"/read", "/leave"} {
		for _, headers := range []string{fmt.Sprintf("Content-Length: %d\r\n", large), "Transfer-Encoding: chunked\r\n"} {
			response, err := send(t, path, large, headers)
			require.NoError(t, err, "%s %s", path, headers)
			require.Equal(t, http.StatusTeapot, response.StatusCode)
		}
		response, err := send(t, path, 0, fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n", large))
		require.NoError(t, err)
		require.Equal(t, http.StatusTeapot, response.StatusCode, "without 100 Continue: the body is not sent at all")
	}
	_, err := send(t, "/read", 64<<20, fmt.Sprintf("Content-Length: %d\r\n", 64<<20))
	require.Error(t, err, "what is discarded is limited")
}
