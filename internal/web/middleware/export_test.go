package middleware

// Steady is the clock of limits.
var Steady = monotonicNow
