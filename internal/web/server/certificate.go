package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"portico/internal/web/accesslog"
)

// Certificate serves a certificate from its files, and reads them again when
// they change: whoever renews it restarts nothing.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu        sync.Mutex
	current   *tls.Certificate
	modified  [2]time.Time // of the files when current was read
	checkedAt time.Time
}

// checkInterval is how long a certificate is used before its files are looked at.
const checkInterval = time.Second

// LoadCertificate reads a certificate, with its chain, and its private key,
// both PEM.
func LoadCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: accesslog.NewLogger(log)}
	return c, c.read()
}

// TLSConfig is how a server speaks TLS with the certificate: 1.2 at least, HTTP/2
// where the client can.
func (c *Certificate) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: c.getCertificate}
}

func (c *Certificate) read() error {
	modified, err := c.modTimes()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("read the certificate %s with the key %s: %w", c.certFile, c.keyFile, err)
	}
	c.current, c.modified = &pair, modified
	return nil
}

// Reload has the next connection look at the files, however lately they were.
func (c *Certificate) Reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checkedAt = time.Time{}
	c.modified = [2]time.Time{}
}

func (c *Certificate) modTimes() (modified [2]time.Time, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return modified, fmt.Errorf("read the certificate: %w", err)
		}
		modified[i] = info.ModTime()
	}
	return modified, nil
}

// getCertificate is the certificate for a connection. Files that cannot be read leave the
// one that is used; so does a pair of which only one half is new yet.
func (c *Certificate) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checkedAt) < checkInterval {
		return c.current, nil
	}
	c.checkedAt = time.Now()
	if modified, err := c.modTimes(); err == nil && modified == c.modified {
		return c.current, nil
	}
	if err := c.read(); err != nil {
		c.log.Warn("the certificate changed and could not be read, going on with the one before", "error", err)
	} else {
		c.log.Info("read the certificate anew", "file", c.certFile)
	}
	return c.current, nil
}
