package cli

import (
	"context"
)

// Migrate migrates a database to the schema of this version.
type Migrate struct {
	Output
	StoreFlags
}

// Help is the long description.
func (*Migrate) Help() string {
	return "All commands migrate the database that they open. This one does nothing else. " +
		"portico does not open a database that a newer version has migrated. " +
		jsonHelp(migratedDatabase{"SQLite portico.db"})
}

// migratedDatabase is the result of migrate.
type migratedDatabase struct {
	Database string `json:"database"`
}

func (d migratedDatabase) String() string { return "the schema is up to date: " + d.Database }

// Run migrates.
func (c *Migrate) Run(ctx context.Context, streams Streams) error {
	s, err := c.Open(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	return c.print(streams, migratedDatabase{s.Describe()})
}
