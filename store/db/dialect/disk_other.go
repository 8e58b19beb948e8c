//go:build !linux && !darwin

package dialect

// IsDiskFull reports false.
func (*FileGuard) IsDiskFull() bool { return false }
