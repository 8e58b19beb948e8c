//go:build !unix

package server

// openFileLimit is unknown on this system: maxConnections leads to a little less than that many connections.
func openFileLimit() int { return maxConnections }
