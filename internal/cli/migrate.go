package cli

import (
	"context"
	"fmt"
)

// Migrate brings a database to this binary's schema.
type Migrate struct{ Common }

// Help is the long description.
func (*Migrate) Help() string {
	return "Every command does this to the store it opens; this one does only that. A database that a newer portico has changed is refused, and left as it is."
}

// Run migrates.
func (c *Migrate) Run(ctx context.Context, streams Streams) error {
	s, err := c.Open(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(streams.Out, "the schema is up to date:", s.Describe())
	return nil
}
