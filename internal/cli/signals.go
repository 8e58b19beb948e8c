package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals handles the signals of a running server. The context of main ends at the
// first SIGINT or SIGTERM, the second closes hurry, and a third ends the process.
// Each SIGHUP calls reload. stop ends the handling.
func Signals(reload func()) (hurry <-chan struct{}, stop func()) {
	terminations, hangups := make(chan os.Signal, 2), make(chan os.Signal, 1)
	stopped, hurrying := make(chan struct{}), make(chan struct{})
	signal.Notify(terminations, os.Interrupt, syscall.SIGTERM)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for received := 0; ; {
			select {
			case <-terminations:
				received++
				if received == 2 {
					signal.Stop(terminations) // the third has its default effect
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
		signal.Stop(terminations)
		signal.Stop(hangups)
		close(stopped)
	}
}
