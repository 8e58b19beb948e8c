package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"portico/store"
	"portico/store/release/routing"
	"portico/store/release/segment"
	"portico/store/shop"
)

// Publish publishes catalogs: shoppers then see what was imported or edited.
type Publish struct {
	Catalogs []string `arg:"" optional:"" name:"catalog" help:"Ids of catalogs, published in this order. Without any, all catalogs are published."`
	Output
	StoreFlags
}

// Help is the long description.
func (*Publish) Help() string {
	return "Shoppers see the old release until the new one is complete, also if publishing is interrupted. " +
		"If nothing has changed, the current release stays. Catalogs that were rolled back are published too. " +
		"Running servers switch to the new release within a second. " +
		jsonHelp(publications{{"catalog-coffee", 1, 24, statePublished}})
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
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	p := &publisher{Output: c.Output, store: s, actor: "command:publish", streams: streams, evenIfHeld: true}
	list, err := p.publish(ctx, c.Catalogs)
	if err != nil {
		return err
	}
	return c.printJSON(streams, list)
}

// publisher publishes catalogs and prints the result of each.
type publisher struct {
	Output
	store      *shop.Store
	actor      store.Actor
	streams    Streams
	evenIfHeld bool // publish catalogs that a roll-back holds
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
	return list, nil
}

func (p *publisher) publishCatalog(ctx context.Context, id string) (publication, error) {
	before, err := p.store.Releases(ctx, id)
	if err != nil {
		return publication{}, err
	}
	publish := p.store.PublishUnlessHeld
	if p.evenIfHeld {
		publish = p.store.Publish
	}
	var bar *progressBar
	made, err := publish(ctx, p.actor, id, func(done, total int) {
		if bar == nil {
			bar = newProgressBar(p.streams.Err, "publishing "+id, int64(total), 1)
		}
		bar.set(int64(done))
	})
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
	if slices.ContainsFunc(before, func(r *segment.Release) bool { return r.ID == made.ID }) {
		state = stateUnchanged
		fmt.Fprintf(p.streams.Err, "nothing changed in %s: release %d stays\n", id, made.ID)
	}
	p.printLine(p.streams, fmt.Sprintf("published %s: release %d, %s", id, made.ID, count(made.Products, "product")))
	return publication{id, made.ID, made.Products, state}, nil
}
