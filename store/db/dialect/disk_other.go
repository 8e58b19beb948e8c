//go:build !linux && !darwin

package dialect

// IsDiskFull reports false: this system is not asked.
func (*FileGuard) IsDiskFull() bool { return false }
