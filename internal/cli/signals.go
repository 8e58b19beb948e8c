package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals follows what a server is sent beside the first signal to end, which
// is main's: hurry is closed by a second one, and a third one ends the process
// at once, as the system does it. reload is called for each SIGHUP, which would
// else end the process. stop ends all of it.
func Signals(reload func()) (hurry <-chan struct{}, stop func()) {
	ends, hangups, stopped, hurrying := make(chan os.Signal, 2), make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for asked := 0; ; {
			select {
			case <-ends:
				if asked++; asked == 2 {
					signal.Stop(ends)
					close(hurrying)
				}
			case <-hangups:
				reload()
			case <-stopped:
				return
			}
		}
	}()
	return hurrying, func() {
		signal.Stop(ends)
		signal.Stop(hangups)
		close(stopped)
	}
}
