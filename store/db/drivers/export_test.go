package drivers

import "time"

// TellWaitsAfter shortens the times after which a wait for a migration is logged.
func TellWaitsAfter(wait time.Duration) { firstWaitLog = wait }
