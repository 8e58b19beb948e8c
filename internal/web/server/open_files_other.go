//go:build !unix

package server

// openFileLimit is unknown on this system: maxConnections leads to a little less than that many connections.
// open_files_unix.go says why it is needed.
func openFileLimit() int { return maxConnections }
