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
	return "Creates the schema in an empty database, and migrates an older one. Commands that write migrate the database that they open; " +
		"those that only read do not, and name this command. backup copies a database of any version. " +
		"portico does not open a database that needs a newer version, and changes nothing in a database with tables of another application. " +
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
