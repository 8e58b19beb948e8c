//go:build race

package testkit

// RaceDetector reports whether the race detector is on: imports take ten times as long, objects
// more memory, and pools forget some of what is put back.
const RaceDetector = true
