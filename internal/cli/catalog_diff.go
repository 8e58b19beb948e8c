package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"portico/store"
	"portico/store/publish/compare"
)

// catalogDiff is what differs between two releases, or what a publication would change.
type catalogDiff struct {
	Catalog string       `json:"catalog"`
	From    *int64       `json:"from"` // null if nothing is served
	To      *int64       `json:"to"`   // null for the next publication
	Total   int          `json:"total"`
	Counts  []diffCount  `json:"counts"` // of the kinds that differ
	Changes []diffChange `json:"changes"`
}

type diffCount struct {
	Kind    string `json:"kind"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Removed int    `json:"removed"`
}

type diffChange struct {
	Kind    string               `json:"kind"`
	ID      string               `json:"id"`
	Name    string               `json:"name"`
	Effect  string               `json:"effect"` // add, change or remove
	Members []store.MemberChange `json:"members"`
}

// exampleDiff is an example for help, of the release with a number, or of the next publication.
func exampleDiff(to int64) catalogDiff {
	return newCatalogDiff(&compare.Differences{CatalogID: "catalog-coffee", From: 1, To: to, Counts: map[compare.ResourceKind]compare.DifferenceCount{compare.ResourceProduct: {Changed: 1}},
		List: []*compare.Difference{{Kind: compare.ResourceProduct, ID: "prod-latte", Name: "Caffè Latte", Effect: compare.PendingChange,
			Members: []store.MemberChange{{Path: []string{"attributes", "name"}, Before: json.RawMessage(`"Latte"`), After: json.RawMessage(`"Caffè Latte"`)}}}}})
}

func newCatalogDiff(d *compare.Differences) catalogDiff {
	diff := catalogDiff{Catalog: d.CatalogID, Total: d.Total(), Counts: []diffCount{}, Changes: []diffChange{}}
	if d.From != 0 {
		diff.From = &d.From
	}
	if d.To != 0 {
		diff.To = &d.To
	}
	for _, kind := range compare.DifferenceKinds() {
		if c := d.Counts[kind]; c.Total() > 0 {
			diff.Counts = append(diff.Counts, diffCount{string(kind), c.Added, c.Changed, c.Removed})
		}
	}
	for _, change := range d.List {
		diff.Changes = append(diff.Changes, diffChange{string(change.Kind), change.ID, change.Name, string(change.Effect), append([]store.MemberChange{}, change.Members...)})
	}
	return diff
}

// String has a line for the counts of each kind, and one for each of the first changes.
func (d catalogDiff) String() string {
	var text strings.Builder
	subject, from := "the next publication", "nothing, since no release is served"
	if d.To != nil {
		subject = fmt.Sprintf("release %d", *d.To)
	}
	if d.From != nil {
		from = fmt.Sprintf("release %d", *d.From)
	}
	fmt.Fprintf(&text, "%s: %s compared with %s\n", d.Catalog, subject, from)
	if d.Total == 0 {
		text.WriteString("nothing differs\n")
	}
	for _, c := range d.Counts {
		fmt.Fprintf(&text, "%s: %d added, %d changed, %d removed\n", c.Kind, c.Added, c.Changed, c.Removed)
	}
	shown := d.Changes[:min(len(d.Changes), maxPrintedChanges)]
	for _, change := range shown {
		fmt.Fprintf(&text, "%s %s %s%s%s\n", change.Effect, change.Kind, change.ID, quoteName(change.Name), describeMembers(change.Members))
	}
	if more := d.Total - len(shown); more > 0 {
		fmt.Fprintf(&text, "and %s more; --json lists them\n", count(more, "change"))
	}
	return text.String()
}

func quoteName(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" %q", name)
}
