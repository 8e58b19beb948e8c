package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/publish"
	"portico/store/release/routing"
	"portico/store/release/segment"
	"portico/store/shop"
)

// Publish publishes catalogs: shoppers then see what was imported or edited.
type Publish struct {
	Catalogs  []string `arg:"" optional:"" name:"catalog" help:"Ids of catalogs, published in this order. Without any, all catalogs are published."`
	DryRun    bool     `help:"Print what would change, and publish nothing."`
	Label     string   `placeholder:"TEXT" help:"Label of the new release, in one line, at most 100 bytes."`
	Note      string   `placeholder:"TEXT" help:"Note on the new release, at most 2000 bytes."`
	At        string   `placeholder:"TIME" help:"Publish at a time, such as 2026-12-01T08:00:00Z, at most 366 days ahead. A running server does it."`
	Scheduled bool     `help:"List the publications that are scheduled."`
	Cancel    string   `placeholder:"JOB" help:"Cancel a scheduled publication, by its id as --scheduled prints it."`
	Output
	StoreFlags
}

// Help is the long description.
func (*Publish) Help() string {
	return "Shoppers see the old release until the new one is complete, also if publishing is interrupted. " +
		"If nothing has changed, the current release stays. Catalogs that were rolled back are published too. " +
		"Running servers switch to the new release within a second. " +
		jsonHelp(publications{{"catalog-coffee", 1, 24, statePublished}}) +
		"\n\nWith --json and --dry-run, with the first 1000 changes:\n\n    " + jsonExample([]catalogDiff{exampleDiff(0)}) +
		"\n\nWith --json and --at, --scheduled or --cancel:\n\n    " + jsonExample(scheduledList{exampleScheduled})
}

// The states of a publication.
const (
	statePublished = "published"
	stateUnchanged = "unchanged" // the release equals the one before
	stateHeld      = "held"      // a roll-back holds the catalog at its release
)

// publications is the result of publish.
type publications []publication

type publication struct {
	Catalog  string `json:"catalog"`
	Release  int64  `json:"release"`
	Products int    `json:"products"`
	State    string `json:"state"`
}

// Run publishes.
func (c *Publish) Run(ctx context.Context, streams Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	open := c.OpenExisting
	if c.DryRun || c.Scheduled {
		open = c.OpenToRead
	}
	s, err := open(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case c.DryRun:
		return c.dryRun(ctx, s, streams)
	case c.At != "" || c.Scheduled || c.Cancel != "":
		return c.schedule(ctx, s, streams)
	}
	p := &publisher{Output: c.Output, store: s, actor: publishActor, streams: streams, evenIfHeld: true, notes: c.notes()}
	list, err := p.publish(ctx, c.Catalogs)
	if err != nil {
		return err
	}
	return c.printJSON(streams, list)
}

const publishActor store.Actor = "command:publish"

func (c *Publish) notes() publish.ReleaseNotes {
	return publish.ReleaseNotes{Label: c.Label, Note: c.Note}
}

// check rejects flags that do not fit together.
func (c *Publish) check() error {
	noted := c.Label != "" || c.Note != ""
	for _, flag := range []struct {
		name     string
		set, bad bool   // bad: a flag of with is set too
		with     string // as the error names them
	}{
		{"--dry-run", c.DryRun, noted || c.At != "" || c.Scheduled || c.Cancel != "", "--label, --note, --at, --scheduled or --cancel"},
		{"--scheduled", c.Scheduled, noted || c.At != "" || c.Cancel != "", "--label, --note, --at or --cancel"},
		{"--cancel", c.Cancel != "", noted || c.At != "" || len(c.Catalogs) > 0, "catalogs, --label, --note or --at"},
	} {
		if flag.set && flag.bad {
			return usagef("%s cannot be used with %s", flag.name, flag.with)
		}
	}
	return nil
}

// dryRun prints what a publication would change.
func (c *Publish) dryRun(ctx context.Context, s *shop.Store, streams Streams) error {
	catalogs, err := chosenCatalogs(ctx, s, c.Catalogs)
	if err != nil {
		return err
	}
	list := []catalogDiff{}
	for _, id := range catalogs {
		var bar *progressBar
		found, err := s.Publisher.DryRun(ctx, id, maxShownChanges, barOf(&bar, streams, "comparing "+id))
		bar.end()
		if err != nil {
			return fmt.Errorf("compare %s: %w", id, err)
		}
		diff := newCatalogDiff(found)
		list = append(list, diff)
		c.printLine(streams, strings.TrimSuffix(diff.String(), "\n"))
	}
	c.printLine(streams, "nothing was published")
	return c.printJSON(streams, list)
}

// barOf returns a function that shows progress with a bar, which it makes on the first call, when the total is known. The
// caller ends the bar.
func barOf(bar **progressBar, streams Streams, label string) publish.Progress {
	return func(done, total int) {
		if *bar == nil {
			*bar = newProgressBar(streams.Err, label, int64(total), 1)
		}
		(*bar).set(int64(done))
	}
}

// publisher publishes catalogs and prints the result of each.
type publisher struct {
	Output
	store      *shop.Store
	actor      store.Actor
	streams    Streams
	evenIfHeld bool // publish catalogs that a roll-back holds
	notes      publish.ReleaseNotes
}

// publish publishes catalogs, all if wanted is empty. If one is unknown, it
// publishes none.
func (p *publisher) publish(ctx context.Context, wanted []string) (publications, error) {
	wanted, err := chosenCatalogs(ctx, p.store, wanted)
	if err != nil {
		return nil, err
	}
	list := publications{}
	for _, id := range wanted {
		published, err := p.publishCatalog(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("publish %s: %w", id, err)
		}
		list = append(list, published)
	}
	if len(wanted) == 0 {
		p.printLine(p.streams, "there is no catalog to publish")
	}
	unpriced, err := p.store.Releases.Unpriced(ctx)
	for _, catalog := range unpriced {
		fmt.Fprintf(p.streams.Err, "warning: shoppers see no price in the catalog %s.\n", catalog)
	}
	return list, err
}

// publishCatalog publishes a catalog and prints the result. There is no new release if a roll-back holds the catalog, or if
// nothing has changed.
func (p *publisher) publishCatalog(ctx context.Context, id string) (publication, error) {
	before, err := p.store.Releases.List(ctx, id)
	if err != nil {
		return publication{}, err
	}
	var bar *progressBar
	progress := barOf(&bar, p.streams, "publishing "+id)
	var made *segment.Release
	if p.evenIfHeld {
		made, err = p.store.Publisher.PublishWithNotes(ctx, p.actor, id, p.notes, progress)
	} else {
		made, err = p.store.Publisher.PublishUnlessHeld(ctx, p.actor, id, progress)
	}
	bar.end()
	if held := new(routing.HeldError); errors.As(err, &held) {
		p.printLine(p.streams, fmt.Sprintf("held %s: release %d, rolled back from release %d; publish it with: portico publish %s",
			id, held.Hold.ReleaseID, held.Hold.RolledBackFrom, id))
		for _, r := range before {
			if r.ID == held.Hold.ReleaseID {
				return publication{id, r.ID, r.Products, stateHeld}, nil
			}
		}
		return publication{id, held.Hold.ReleaseID, 0, stateHeld}, nil
	}
	if err != nil {
		return publication{}, err
	}
	state := statePublished
	if slices.ContainsFunc(before, func(r *segment.Release) bool { return r.ID == made.ID }) { // the same release as before
		state = stateUnchanged
		fmt.Fprintf(p.streams.Err, "nothing changed in %s: release %d stays\n", id, made.ID)
		if p.notes != (publish.ReleaseNotes{}) {
			fmt.Fprintf(p.streams.Err, "release %d keeps its own label and note; change them with: portico release label %[1]d\n", made.ID)
		}
	}
	p.printLine(p.streams, fmt.Sprintf("published %s: release %d, %s", id, made.ID, count(made.Products, "product")))
	return publication{id, made.ID, made.Products, state}, nil
}
