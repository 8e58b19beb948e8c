package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"portico/store"
	"portico/store/shop"
)

// Copy copies a database into another one, also between SQLite and PostgreSQL.
type Copy struct {
	To string `required:"" placeholder:"URL" help:"New, empty database to copy to: file:PATH for SQLite, or postgres://user@host:5432/database."`
	Output
	StoreFlags
}

const copyActor store.Actor = "command:copy"

// copyTime is the time limit of the transaction that copies.
const copyTime = 24 * time.Hour

// Help is the long description.
func (*Copy) Help() string {
	return "Everything is copied: resources with stock ledgers and usages, releases, clients and keys, jobs, and sealed secrets, for which the servers need the same key file. " +
		"Stop the servers first, or what they write during the copy is missing. The copy is one transaction: if it fails, nothing is there. " +
		"Check the result with portico doctor. " +
		jsonHelp(copiedRows{copiedDatabase{"copied", "SQLite portico.db", "PostgreSQL db.example:5432/shop"}, 12345})
}

// copiedRows is the result of copy.
type copiedRows struct {
	copiedDatabase
	Rows int64 `json:"rows"`
}

func (c copiedRows) String() string {
	return fmt.Sprintf("%s, %s", c.copiedDatabase, count(int(c.Rows), "row"))
}

// Validate checks what the parser cannot.
func (c *Copy) Validate() error {
	if _, isSQLite := shop.SQLiteFile(c.To); !isSQLite && !isPostgres(c.To) {
		return usagef("--to must start with file: or postgres://, for example file:copy.db")
	}
	if c.To == c.DatabaseURL {
		return usagef("--to and --database-url must be different databases")
	}
	return c.StoreFlags.Validate()
}

// Run copies.
func (c *Copy) Run(ctx context.Context, streams Streams) (err error) {
	from, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer from.Close()
	flags := c.StoreFlags
	flags.DatabaseURL, flags.WriteTime, flags.IdleWriteTime = c.To, copyTime, copyTime
	to, err := flags.Open(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	tables, err := from.CopyTo(ctx, to, copyActor)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	result := copiedRows{copiedDatabase: copiedDatabase{"copied", from.Describe(), to.Describe()}}
	for _, rows := range tables {
		result.Rows += rows
	}
	return c.print(streams, result)
}
