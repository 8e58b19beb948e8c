//go:build !race

package storetest

// RaceDetector reports whether the race detector is on.
const RaceDetector = false
