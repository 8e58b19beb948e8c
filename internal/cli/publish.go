package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// Publish makes what is authored visible to shoppers.
type Publish struct {
	Catalogs []string `arg:"" optional:"" name:"catalog" help:"Ids of catalogs, in this order; all of them when none is named."`
	Common
}

// Help is the long description.
func (*Publish) Help() string {
	return "Shoppers see the old release until the new one is whole, and go on seeing it when publishing is interrupted. " +
		"Where the new one would show the same, none is made. " +
		"A catalog that was rolled back is published too. " +
		"Servers on the same database show the new one within a second."
}

// Run publishes.
func (c *Publish) Run(ctx context.Context, streams Streams) error {
	log := c.Log(streams)
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	return publish(ctx, s, "command:publish", c.Catalogs, streams, true)
}

// publish publishes catalogs, all when none is named, and tells of each. It
// publishes none when one is unknown. Without onPurpose it leaves those that a
// roll-back holds.
func publish(ctx context.Context, s *shop.Store, actor store.Actor, wanted []string, streams Streams, onPurpose bool) error {
	known, err := s.CatalogIDs(ctx)
	if err != nil {
		return fmt.Errorf("list the catalogs: %w", err)
	}
	for i, id := range wanted {
		wanted[i], _ = store.CanonicalID(id)
		if !slices.Contains(known, wanted[i]) {
			return fmt.Errorf("there is no catalog %q among the %s of this store: %s", id, count(len(known), "catalog"), strings.Join(known, " "))
		}
	}
	if len(wanted) == 0 {
		wanted = known
	}
	for _, id := range wanted {
		if err := publishOne(ctx, s, actor, id, streams, onPurpose); err != nil {
			return fmt.Errorf("publish %s: %w", id, err)
		}
	}
	if len(wanted) == 0 {
		fmt.Fprintln(streams.Out, "there is no catalog to publish")
	}
	return nil
}

func publishOne(ctx context.Context, s *shop.Store, actor store.Actor, id string, streams Streams, onPurpose bool) error {
	var bar *meter
	before, err := s.Releases(ctx, id)
	if err != nil {
		return err
	}
	do := s.PublishUnlessHeld
	if onPurpose {
		do = s.Publish
	}
	made, err := do(ctx, actor, id, func(done, total int) {
		if bar == nil {
			bar = newMeter(streams.Err, "publishing "+id, int64(total), 1)
		}
		bar.reach(int64(done))
	})
	bar.end()
	if held := new(release.HeldError); errors.As(err, &held) {
		fmt.Fprintf(streams.Out, "held %s: release %d, rolled back from release %d; publish it with: portico publish %s\n", id, held.Hold.ReleaseID, held.Hold.RolledBackFrom, id)
		return nil
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(before, func(r *release.Release) bool { return r.ID == made.ID }) {
		fmt.Fprintf(streams.Err, "nothing new in %s: release %d goes on being served\n", id, made.ID)
	}
	fmt.Fprintf(streams.Out, "published %s: release %d, %s\n", id, made.ID, count(made.Products, "product"))
	return nil
}
