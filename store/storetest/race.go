//go:build race

package storetest

// RaceDetector reports whether the race detector is on: imports take ten times as long, and objects
// more memory.
const RaceDetector = true
