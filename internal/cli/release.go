package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/release/segment"
	"portico/store/shop"
)

// Release groups the commands for the releases of catalogs.
type Release struct {
	List     ReleaseList     `cmd:"" help:"List the releases that are kept, newest first."`
	Show     ReleaseShow     `cmd:"" help:"Show a release: who published it, when, its size, languages and currencies."`
	Diff     ReleaseDiff     `cmd:"" help:"Show which products, nodes and members differ between two releases."`
	Serve    ReleaseServe    `cmd:"" help:"Serve a release: a preview, an earlier one, or a later one again."`
	Rollback ReleaseRollback `cmd:"" help:"Serve the release before the served one."`
	Hold     ReleaseHold     `cmd:"" help:"Retain a release: it is not deleted, however many follow."`
	Unhold   ReleaseUnhold   `cmd:"" help:"End release hold."`
	Label    ReleaseLabel    `cmd:"" help:"Change the label and the note of a release."`
}

const releaseActor store.Actor = "command:release"

// ReleaseList lists the releases of catalogs.
type ReleaseList struct {
	Catalogs []string `arg:"" optional:"" name:"catalog" help:"Ids of catalogs. Without any, all catalogs."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseList) Help() string {
	return "Kept are the served release, the newest three (--keep-releases of the server), those served within the last hour, " +
		"those that release hold retains, and the bases of all these. " +
		"ADDED, CHANGED and REMOVED count products, compared with the release that was served when this one was made. " +
		jsonHelp(releaseList{{ID: 2, Catalog: "catalog-coffee", State: releaseServed, PublishedAt: "2026-01-31T12:00:00Z", Products: 25, Changed: 1}})
}

// The states of a release.
const (
	releaseServed  = "served"
	releaseHeld    = "held" // served since a roll-back, so that imports do not publish
	releasePreview = "preview"
	releaseKept    = "kept"
)

// releaseList is the result of release list.
type releaseList []releaseEntry

type releaseEntry struct {
	ID          int64  `json:"release"`
	Catalog     string `json:"catalog"`
	State       string `json:"state"`
	PublishedAt string `json:"published_at"`
	Products    int    `json:"products"`
	Added       int    `json:"added"`
	Changed     int    `json:"changed"`
	Removed     int    `json:"removed"`
	Label       string `json:"label"`
	Retained    bool   `json:"retained"`
}

func (l releaseList) String() string {
	rows := [][]string{{"CATALOG", "RELEASE", "STATE", "PUBLISHED", "PRODUCTS", "ADDED", "CHANGED", "REMOVED", "RETAINED", "LABEL"}}
	for _, r := range l {
		rows = append(rows, []string{r.Catalog, strconv.FormatInt(r.ID, 10), r.State, r.PublishedAt,
			strconv.Itoa(r.Products), strconv.Itoa(r.Added), strconv.Itoa(r.Changed), strconv.Itoa(r.Removed), yesNo(r.Retained), orDash(store.NonEmpty(r.Label))})
	}
	return table(rows)
}

// Run lists them.
func (c *ReleaseList) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	catalogs, err := chosenCatalogs(ctx, s, c.Catalogs)
	if err != nil {
		return err
	}
	held, err := heldCatalogs(ctx, s)
	if err != nil {
		return err
	}
	list := releaseList{}
	for _, catalog := range catalogs {
		releases, err := s.Releases.List(ctx, catalog)
		if err != nil {
			return fmt.Errorf("list the releases of %s: %w", catalog, err)
		}
		for _, r := range releases {
			entry, err := newReleaseEntry(ctx, s, r, held[catalog])
			if err != nil {
				return err
			}
			list = append(list, entry)
		}
	}
	return c.print(streams, list)
}

// heldCatalogs returns the catalogs that a roll-back holds.
func heldCatalogs(ctx context.Context, s *shop.Store) (map[string]bool, error) {
	holds, err := s.Releases.HeldCatalogs(ctx)
	held := make(map[string]bool, len(holds))
	for _, hold := range holds {
		held[hold.CatalogID] = true
	}
	return held, err
}

// newReleaseEntry returns the entry of a release. held says that a roll-back holds its catalog.
func newReleaseEntry(ctx context.Context, s *shop.Store, r *segment.Release, held bool) (releaseEntry, error) {
	served, err := s.Releases.Served(ctx, r)
	state := releaseKept
	switch {
	case served && held:
		state = releaseHeld
	case served:
		state = releaseServed
	case r.Preview:
		state = releasePreview
	}
	return releaseEntry{r.ID, r.CatalogID, state, *timestamp(r.PublishedAt), r.Products, r.Added, r.Changed, r.Removed, r.Label, r.Retained}, err
}

// ReleaseServe serves a release.
type ReleaseServe struct {
	ID string `arg:"" name:"release" help:"The release's number, as release list prints it."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseServe) Help() string {
	return "Running servers switch to the release within a second. An earlier release holds its catalog: imports do not publish it " +
		"until portico publish does, or until the release that it was rolled back from is served again. " +
		jsonHelp(releaseEntry{ID: 1, Catalog: "catalog-coffee", State: releaseHeld, PublishedAt: "2026-01-31T12:00:00Z", Products: 25})
}

// Run serves it.
func (c *ReleaseServe) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	return serveRelease(ctx, s, streams, c.Output, c.ID)
}

// serveRelease serves a release by its number or UUID, and prints the result: for release serve and release rollback.
func serveRelease(ctx context.Context, s *shop.Store, streams Streams, output Output, id string) error {
	served, err := s.Releases.Serve(ctx, releaseActor, id)
	if err != nil {
		return releaseError("serve", id, err)
	}
	held, err := heldCatalogs(ctx, s)
	if err != nil {
		return err
	}
	entry, err := newReleaseEntry(ctx, s, served, held[served.CatalogID])
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s serves release %d", entry.Catalog, entry.ID)
	if entry.State == releaseHeld {
		text += fmt.Sprintf(", and imports leave it there. End that with: portico publish %s", entry.Catalog)
	}
	output.printLine(streams, text)
	return output.printJSON(streams, entry)
}

// ReleaseRollback serves the release before the served one.
type ReleaseRollback struct {
	Catalog string `arg:"" name:"catalog" help:"The catalog's id."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseRollback) Help() string {
	return "The catalog is held at the earlier release, as by release serve. Previews do not count. " +
		jsonHelp(releaseEntry{ID: 1, Catalog: "catalog-coffee", State: releaseHeld, PublishedAt: "2026-01-31T12:00:00Z", Products: 25})
}

// Run rolls back.
func (c *ReleaseRollback) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	catalogs, err := chosenCatalogs(ctx, s, []string{c.Catalog})
	if err != nil {
		return err
	}
	releases, err := s.Releases.List(ctx, catalogs[0])
	if err != nil {
		return fmt.Errorf("list the releases of %s: %w", c.Catalog, err)
	}
	served := int64(0)
	for _, r := range releases { // newest first
		is, err := s.Releases.Served(ctx, r)
		if err != nil {
			return err
		}
		switch {
		case is:
			served = r.ID
		case served > 0 && !r.Preview:
			return serveRelease(ctx, s, streams, c.Output, r.UUID())
		}
	}
	if served == 0 {
		return fmt.Errorf("%s serves no release. Publish it with: portico publish %s", c.Catalog, c.Catalog)
	}
	return fmt.Errorf("no release of %s before %d is kept", c.Catalog, served)
}

// chosenCatalogs returns the ids of catalogs as they are stored, all if wanted is
// empty. It fails if one is unknown.
func chosenCatalogs(ctx context.Context, s *shop.Store, wanted []string) ([]string, error) {
	known, err := s.Releases.CatalogIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the catalogs: %w", err)
	}
	if len(wanted) == 0 {
		return known, nil
	}
	exists, chosen := store.SetOf(known), make([]string, len(wanted))
	for i, id := range wanted {
		chosen[i], _ = store.CanonicalID(id)
		if !exists[chosen[i]] {
			return nil, fmt.Errorf("catalog %q does not exist. Catalogs: %s", id, strings.Join(known, " "))
		}
	}
	return chosen, nil
}
