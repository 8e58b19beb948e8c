//go:build !unix

package cli

import "io/fs"

// othersMayRead is false: on these systems, as on Windows, the permissions of a file do not tell who may read it.
func othersMayRead(fs.FileInfo) bool { return false }
