// Package app is the program: the grammar of its command line, the command serve, and the wiring of a server. server.go
// runs it. The other commands are in internal/cli.
package app

import (
	"context"

	"portico/internal/cli"
)

// Commands is the grammar of the command line.
type Commands struct {
	Serve   Serve             `cmd:"" help:"Start the server."`
	Config  cli.Config[Serve] `cmd:"" help:"Print the effective configuration of serve."`
	Import  cli.Import        `cmd:"" help:"Import resources from NDJSON files and publish the catalogs."`
	Export  cli.Export        `cmd:"" help:"Export all resources to an NDJSON file."`
	Publish cli.Publish       `cmd:"" help:"Publish catalogs."`
	Doctor  cli.Doctor        `cmd:"" help:"Check the database, and say what to do."`
	Audit   cli.Audit         `cmd:"" help:"List what each write did: the audit log."`
	Release cli.Release       `cmd:"" help:"List releases, serve one, and roll back."`
	Codes   cli.Codes         `cmd:"" help:"Generate and export promotion codes."`
	Client  cli.Client        `cmd:"" help:"Manage API clients."`
	Keys    cli.Keys          `cmd:"" help:"Manage the keys that sign tokens."`
	Rekey   cli.Rekey         `cmd:"" help:"Encrypt the secrets in the database with a new key."`
	Backup  cli.Backup        `cmd:"" help:"Copy a SQLite database to a file."`
	Copy    cli.Copy          `cmd:"" help:"Copy a database to another one, also between SQLite and PostgreSQL."`
	Restore cli.Restore       `cmd:"" help:"Create a SQLite database from a backup."`
	Migrate cli.Migrate       `cmd:"" help:"Migrate the database to the schema of this version."`
	Schema  cli.Schema        `cmd:"" help:"Print the GraphQL schema, or the JSON Schema of import files."`
	Health  cli.Health        `cmd:"" help:"Check the server on this machine."`
	cli.Builtin
}

// Run runs the command in args and returns the exit code. schema is the text of schema.graphqls.
func Run(ctx context.Context, args []string, streams cli.Streams, schema string) (code int) {
	return cli.Main(ctx, &Commands{}, args, streams, cli.SDL(schema))
}
