package remote

import "time"

// DefaultRate is how many requests a second a fetch sends at most.
const DefaultRate = 10

// Config says what to fetch, and how.
type Config struct {
	URL         string // base address, such as https://shop.example
	Credentials Credentials
	Languages   []string // BCP 47 tags to fetch beside those that the server's settings name
	Channel     string   // of the shopper whose catalog is fetched; empty for none
	Tags        []string // of that shopper
	Rate        float64  // requests a second; 0 means DefaultRate
	Folder      string   // where to keep what was fetched

	Progress func(text string)                    // called after each step; may be nil
	Waiting  func(reason string, d time.Duration) // called before a request is repeated; may be nil

	firstWait time.Duration // before the first repetition; 0 means a second
}
