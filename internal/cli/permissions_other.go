//go:build !unix

package cli

import "io/fs"

// isOwner reports whether a file belongs to the user of this process.
func isOwner(fs.FileInfo) bool { return true }
