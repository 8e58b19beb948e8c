package server

import "time"

// WithDrainTimeout sets how long requests in progress may take to end on shutdown. The default is 20 s.
func WithDrainTimeout(d time.Duration) Option { return func(c *config) { c.drain = d } }
