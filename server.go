// Command portico serves a commerce service over GraphQL and REST, and holds
// the commands that fill it.
package main

import (
	"context"
	_ "embed"
	"os"
	"os/signal"
	"syscall"

	"portico/internal/app"
	"portico/internal/cli"
)

//go:embed schema.graphqls
var schema string

func main() {
	cli.FitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process, except in serve, which shuts down faster
	os.Exit(app.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}, schema))
}
