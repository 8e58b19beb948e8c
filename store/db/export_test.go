package db

import "time"

// TellWaitsAfter has waits for a migration be told of sooner.
func TellWaitsAfter(wait time.Duration) { waitTold = wait }
