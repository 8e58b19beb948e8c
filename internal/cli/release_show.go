package cli

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"portico/store"
	"portico/store/publish"
	"portico/store/release/segment"
	"portico/store/shop"
)

// ReleaseShow shows a release.
type ReleaseShow struct {
	ID string `arg:"" name:"release" help:"The release's number, as release list prints it."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseShow) Help() string { return jsonHelp(exampleRelease) }

var exampleRelease = releaseDetail{releaseEntry: releaseEntry{ID: 2, Catalog: "catalog-coffee", State: releaseServed, PublishedAt: "2026-01-31T12:00:00Z", Products: 25, Changed: 1, Label: "winter"},
	Actor: "command:publish", Note: "new prices", ServedAt: new("2026-01-31T12:00:00Z"), Base: new(int64(1)), Bytes: 20480, Locale: "en", Locales: []string{"fr"}, Currencies: []string{"EUR", "USD"}}

// releaseDetail is the result of release show.
type releaseDetail struct {
	releaseEntry
	Actor      string   `json:"actor"` // empty if not known
	Note       string   `json:"note"`
	ServedAt   *string  `json:"served_at"` // null if it never was
	Base       *int64   `json:"base"`      // null for a whole release
	Bytes      int64    `json:"bytes"`     // of its own rows; 0 if not known
	Locale     string   `json:"locale"`
	Locales    []string `json:"locales"`
	Currencies []string `json:"currencies"`
}

func (d releaseDetail) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	base := "none: it is whole"
	if d.Base != nil {
		base = fmt.Sprintf("release %d", *d.Base)
	}
	for _, row := range [][2]string{
		{"release", strconv.FormatInt(d.ID, 10)}, {"catalog", d.Catalog}, {"state", d.State}, {"retained", yesNo(d.Retained)},
		{"label", orDash(store.NonEmpty(d.Label))}, {"note", orDash(store.NonEmpty(d.Note))},
		{"published", d.PublishedAt}, {"by", orDash(store.NonEmpty(d.Actor))}, {"served since", orDash(d.ServedAt)},
		{"products", fmt.Sprintf("%d: %d added, %d changed, %d removed", d.Products, d.Added, d.Changed, d.Removed)},
		{"bytes", strconv.FormatInt(d.Bytes, 10)}, {"base", base},
		{"languages", strings.Join(append([]string{d.Locale}, d.Locales...), " ")}, {"currencies", orDash(store.NonEmpty(strings.Join(d.Currencies, " ")))},
	} {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	w.Flush()
	return text.String()
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// Run shows it.
func (c *ReleaseShow) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Releases.Get(ctx, c.ID)
	if err != nil {
		return releaseError("show", c.ID, err)
	}
	detail, err := newReleaseDetail(ctx, s, r)
	if err != nil {
		return err
	}
	return c.print(streams, detail)
}

// newReleaseDetail returns what release show prints of a release.
func newReleaseDetail(ctx context.Context, s *shop.Store, r *segment.Release) (d releaseDetail, err error) {
	held, err := heldCatalogs(ctx, s)
	if err != nil {
		return d, err
	}
	d = releaseDetail{Actor: string(r.Actor), Note: r.Note, Bytes: r.Bytes, ServedAt: timestamp(r.ServedAt), Locale: r.Locale, Locales: append([]string{}, r.Locales...)}
	if r.BaseID != 0 {
		d.Base = &r.BaseID
	}
	if d.releaseEntry, err = newReleaseEntry(ctx, s, r, held[r.CatalogID]); err != nil {
		return d, err
	}
	currencies, err := s.Releases.CurrenciesOf(ctx, []*segment.Release{r})
	if err == nil {
		d.Currencies = append([]string{}, currencies[0]...)
	}
	return d, err
}

// releaseError explains that a release is not kept.
func releaseError(verb, id string, err error) error {
	if store.HasCode(err, store.NotFound) {
		return fmt.Errorf("release %q is not kept. portico release list shows those that are", id)
	}
	return fmt.Errorf("%s release %s: %w", verb, id, err)
}

// ReleaseDiff compares two releases.
type ReleaseDiff struct {
	From string `arg:"" name:"from" help:"The number of the earlier release."`
	To   string `arg:"" name:"to" help:"The number of the later release."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseDiff) Help() string {
	return "Prints the first 20 changes, and all with --json. " + jsonHelp(exampleDiff(2))
}

// Run compares them.
func (c *ReleaseDiff) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	most := maxPrintedChanges
	if c.JSON {
		most = math.MaxInt
	}
	found, err := s.Publisher.DiffReleases(ctx, c.From, c.To, most, 0)
	if err != nil {
		// The error names the members of the API.
		return fmt.Errorf("compare: %s", strings.NewReplacer("from_id", "the first release", "to_id", "the second release", "catalogReleases, or ", "").Replace(err.Error()))
	}
	return c.print(streams, newCatalogDiff(found))
}

// ReleaseHold retains a release.
type ReleaseHold struct {
	ID string `arg:"" name:"release" help:"The release's number, as release list prints it."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseHold) Help() string {
	return "A retained release is not deleted, however many follow, so that it can be served again at any time. " +
		"A catalog has at most 20. --keep-releases of the server sets how many releases are kept besides. " + jsonHelp(exampleRelease)
}

// Run retains it.
func (c *ReleaseHold) Run(ctx context.Context, streams Streams) error {
	return updateRelease(ctx, streams, c.Output, c.StoreFlags, c.ID, publish.ReleaseUpdate{Retained: new(true)}, "release %d of %s is retained")
}

// ReleaseUnhold ends ReleaseHold.
type ReleaseUnhold struct {
	ID string `arg:"" name:"release" help:"The release's number, as release list prints it."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseUnhold) Help() string {
	return "The release is deleted once it is none of those that release list names. " + jsonHelp(exampleRelease)
}

// Run ends it.
func (c *ReleaseUnhold) Run(ctx context.Context, streams Streams) error {
	return updateRelease(ctx, streams, c.Output, c.StoreFlags, c.ID, publish.ReleaseUpdate{Retained: new(false)}, "release %d of %s is not retained any more")
}

// ReleaseLabel labels a release.
type ReleaseLabel struct {
	ID    string  `arg:"" name:"release" help:"The release's number, as release list prints it."`
	Label *string `placeholder:"TEXT" help:"Label, in one line, at most 100 bytes. Empty removes it."`
	Note  *string `placeholder:"TEXT" help:"Note, at most 2000 bytes. Empty removes it."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ReleaseLabel) Help() string {
	return "What is not given stays as it is. " + jsonHelp(exampleRelease)
}

// Run labels it.
func (c *ReleaseLabel) Run(ctx context.Context, streams Streams) error {
	if c.Label == nil && c.Note == nil {
		return usagef("give --label, --note or both")
	}
	return updateRelease(ctx, streams, c.Output, c.StoreFlags, c.ID, publish.ReleaseUpdate{Label: c.Label, Note: c.Note}, "labeled release %d of %s")
}

// updateRelease changes a release and prints it: done is a format of its number and its catalog, as text.
func updateRelease(ctx context.Context, streams Streams, output Output, flags StoreFlags, id string, update publish.ReleaseUpdate, done string) error {
	s, err := flags.OpenExisting(ctx, flags.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Publisher.UpdateRelease(ctx, releaseActor, id, update)
	if err != nil {
		return releaseError("change", id, err)
	}
	detail, err := newReleaseDetail(ctx, s, r)
	if err != nil {
		return err
	}
	output.printLine(streams, fmt.Sprintf(done, r.ID, r.CatalogID))
	return output.printJSON(streams, detail)
}
