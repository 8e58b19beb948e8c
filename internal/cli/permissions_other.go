//go:build !unix

package cli

import "io/fs"

// othersMayRead returns false. The file modes of Windows and the other systems without Unix permissions do not show who may
// read a file.
func othersMayRead(fs.FileInfo) bool { return false }
