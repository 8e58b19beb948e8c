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

// Certificate is a TLS certificate that is read again when its files change (TestTLS). tls.LoadX509KeyPair reads them
// once. So without Certificate, a server keeps the old certificate until a restart, and all clients fail when it expires.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu        sync.Mutex
	current   *tls.Certificate
	modified  [2]time.Time // of the files when current was read
	checkedAt time.Time
}

// checkInterval is how often the files are checked for changes, at most.
const checkInterval = time.Second

// LoadCertificate reads a certificate with its chain, and its private key, both PEM.
func LoadCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: accesslog.NewLogger(log)}
	return c, c.read()
}

// TLSConfig returns a configuration for TLS 1.2 or later, and HTTP/2.
func (c *Certificate) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: c.getCertificate}
}

// read makes the files current. If that fails, current stays. The caller holds mu, except LoadCertificate.
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

// Reload makes the next connection read the files.
func (c *Certificate) Reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checkedAt = time.Time{}
	c.modified = [2]time.Time{}
}

// modTimes returns when the files were last changed.
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

// getCertificate implements tls.Config.GetCertificate. If the files cannot be read, or only one of the pair is new, it
// keeps the certificate in use.
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
		c.log.Warn("cannot read the changed certificate; keeping the one in use", "error", err)
	} else {
		c.log.Info("certificate reloaded", "file", c.certFile)
	}
	return c.current, nil
}
