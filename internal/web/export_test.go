package web

// Steady is the clock of limits.
var Steady = monotonicNow
