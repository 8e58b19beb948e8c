//go:build race

package rest_test

// raceDetector reports whether the race detector is on, which makes imports ten times slower.
const raceDetector = true
