package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// TestShutdownLosesNoRequests keeps connections open, sends requests that must not be retried, and
// switches servers when /readyz returns 503.
func TestShutdownLosesNoRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		protocol string
		secured  bool
	}{{"HTTP/1.1", false}, {"HTTP/1.1", true}, {"HTTP/2.0", true}} {
		t.Run(fmt.Sprint(test.protocol, " secured ", test.secured), func(t *testing.T) {
			t.Parallel()
			flags, _ := database(t)
			transport := &http.Transport{MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{}, ForceAttemptHTTP2: test.protocol == "HTTP/2.0"}
			defer transport.CloseIdleConnections()
			if test.secured {
				cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
				transport.TLSClientConfig.RootCAs = x509.NewCertPool()
				transport.TLSClientConfig.RootCAs.AddCert(writeCertificate(t, cert, key, 1))
				flags = append(flags, "--tls-cert", cert, "--tls-key", key)
			}
			s := startServer(t, slices.Concat(flags, unlimited, []string{"--linger", "1m"})...) // long enough on a busy machine
			client := &http.Client{Transport: transport}
			away := make(chan struct{})
			var answered, parted atomic.Int64
			var all sync.WaitGroup
			for range 24 {
				all.Go(func() {
					for {
						select {
						case <-away:
							return
						default:
						}
						response, err := client.Post(s.url+"/oauth/access_token", "application/x-www-form-urlencoded", strings.NewReader("grant_type=none"))
						if err != nil {
							t.Error("after ", answered.Load(), " answers: ", err)
							return
						}
						_, err = io.Copy(io.Discard, response.Body)
						response.Body.Close()
						if err != nil || response.StatusCode != http.StatusBadRequest || response.Proto != test.protocol {
							t.Error(response.Proto, response.Status, err)
						}
						answered.Add(1)
						if response.Close {
							parted.Add(1)
						}
					}
				})
			}
			testkit.Eventually(t, true, func() bool { return answered.Load() > 200 })
			require.Zero(t, parted.Load(), "connections live on before the shutdown")
			s.signal(syscall.SIGTERM)
			testkit.Eventually(t, true, func() bool {
				response, err := client.Get(s.url + "/readyz")
				require.NoError(t, err)
				response.Body.Close()
				return response.StatusCode == http.StatusServiceUnavailable
			})
			for since := answered.Load(); answered.Load() < since+100 && !t.Failed(); { // clients switch late
				time.Sleep(time.Millisecond)
			}
			close(away)
			all.Wait()
			require.Zero(t, s.stop())
			t.Log(answered.Load(), "requests, none lost")
			if test.protocol == "HTTP/1.1" {
				require.NotZero(t, parted.Load(), "each connection is told to end")
			}
		})
	}
}

// readyInterval is how often a load balancer checks /readyz, as configured in packaging.
const readyInterval = time.Second

// TestShutdownWithDefaultFlagsLosesNoRequests simulates a load balancer that reuses connections and
// opens new ones until its check of /readyz returns 503. The server ends on one signal, after that
// check.
func TestShutdownWithDefaultFlagsLosesNoRequests(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestShutdownLosesNoRequests has shorter times")
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	trusted := &tls.Config{RootCAs: x509.NewCertPool()}
	trusted.RootCAs.AddCert(writeCertificate(t, cert, key, 1))
	start := func(flags ...string) *serverProcess {
		store, _ := database(t)
		return startProcess(t, command(slices.Concat([]string{"serve", "--addr", "127.0.0.1:0"}, store, flags)...))
	}
	plain, secured := start(), start("--tls-cert", cert, "--tls-key", key)

	var mu sync.Mutex // guards the variables below
	answered, lost := map[string]int{}, []string{}
	asking, lookAway := context.WithCancel(t.Context())
	defer lookAway()
	var all sync.WaitGroup
	for _, of := range []struct {
		s        *serverProcess
		protocol string
	}{{plain, "HTTP/1.1"}, {secured, "HTTP/1.1"}, {secured, "HTTP/2.0"}} {
		for _, anew := range []bool{false, true} {
			kind := fmt.Sprint(of.protocol, " secured ", of.s == secured, " on new connections ", anew)
			transport := &http.Transport{TLSClientConfig: trusted.Clone(), ForceAttemptHTTP2: of.protocol == "HTTP/2.0", DisableKeepAlives: anew}
			defer transport.CloseIdleConnections()
			for range 2 {
				all.Go(func() {
					for going := true; going; {
						response, err := (&http.Client{Transport: transport}).Post(of.s.url+"/graphql", "application/json",
							strings.NewReader(`{"query":"{__typename}"}`))
						if err == nil {
							_, err = io.Copy(io.Discard, response.Body)
							response.Body.Close()
						}
						mu.Lock()
						switch {
						case err != nil:
							lost = append(lost, kind+": "+err.Error())
						case response.StatusCode != http.StatusOK || response.Proto != of.protocol:
							lost = append(lost, kind+": "+response.Proto+" "+response.Status)
						default:
							answered[kind]++
						}
						mu.Unlock()
						select {
						case <-asking.Done():
							going = false
						case <-time.After(50 * time.Millisecond):
						}
					}
				})
			}
		}
	}
	prober := &http.Client{Transport: &http.Transport{TLSClientConfig: trusted, DisableKeepAlives: true}}
	ready := func(s *serverProcess) bool {
		response, err := prober.Get(s.url + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	testkit.Eventually(t, true, func() bool {
		mu.Lock()
		defer mu.Unlock()
		require.Empty(t, lost, "before the shutdown")
		return len(answered) == 6
	})
	require.True(t, ready(plain) && ready(secured))
	plain.signal(syscall.SIGTERM)
	secured.signal(syscall.SIGTERM)
	looks, slow := time.NewTicker(readyInterval), false
	defer looks.Stop()
	for up := true; up; {
		due := <-looks.C
		up = ready(plain) || ready(secured)
		slow = slow || time.Since(due) > readyInterval
	}
	lookAway()
	all.Wait()
	require.Zero(t, plain.wait())
	require.Zero(t, secured.wait())
	if slow && len(lost) > 0 {
		t.Skip("the machine is so busy that no look at /readyz came in its time")
	}
	require.Empty(t, lost)
	require.False(t, plain.logs("canceling requests still in progress") || secured.logs("canceling requests still in progress"))
	t.Log(answered)
}

func TestSecondSignalShortensShutdown(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, append(flags, "--linger", "1h")...)
	s.signal(syscall.SIGTERM)
	testkit.Eventually(t, true, func() bool { return s.logs("shutting down") })
	response, _ := s.send(t, "GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.True(t, response.Close)
	require.Zero(t, s.stop(), "it has ended well, and within this hour")
}

// TestSecondSignalCancelsRequests sends a request without its body, which must delay a fast
// shutdown only briefly.
func TestSecondSignalCancelsRequests(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, append(flags, "--linger", "1h", "--body-time", "1h", "--request-time", "1h")...)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /oauth/access_token HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100", "it waits for the body")
	s.signal(syscall.SIGTERM)
	testkit.Eventually(t, true, func() bool { return s.logs("shutting down") })
	require.Zero(t, s.stop())
	require.True(t, s.logs("canceling requests still in progress"))
}

func TestSIGHUPKeepsServerRunning(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	plain := startServer(t, flags...)
	plain.signal(syscall.SIGHUP)
	testkit.Eventually(t, true, func() bool { return plain.logs("SIGHUP: there is no certificate to reload") })
	response, _ := plain.send(t, "GET", "/readyz", "")
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Zero(t, plain.stop())

	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, cert, key, 1)
	secured := startServer(t, append(flags, "--tls-cert", cert, "--tls-key", key)...)
	renewed := writeCertificate(t, cert, key, 2)
	secured.signal(syscall.SIGHUP)
	testkit.Eventually(t, true, func() bool { return secured.logs("SIGHUP: the next connection reloads the certificate") })
	roots := x509.NewCertPool()
	roots.AddCert(renewed)
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", strings.TrimPrefix(secured.url, "https://"),
		&tls.Config{RootCAs: roots})
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Zero(t, secured.stop())
}
