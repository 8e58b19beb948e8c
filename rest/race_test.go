//go:build race

package rest_test

// raceDetector tells whether the tests run under the race detector, which
// makes an import some ten times slower.
const raceDetector = true
