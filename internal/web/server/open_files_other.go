//go:build !unix

package server

// openFileLimit is unknown on this system.
func openFileLimit() int { return maxConnections }
