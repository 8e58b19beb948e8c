package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"portico/internal/cli/input"
	"portico/internal/remote"
	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
)

// importPlan is the result of import --dry-run.
type importPlan struct {
	Created   map[string]int  `json:"created"`
	Updated   map[string]int  `json:"updated"`
	Unchanged map[string]int  `json:"unchanged"`
	Deleted   map[string]int  `json:"deleted"`
	Kept      map[string]int  `json:"kept"`
	Skipped   map[string]int  `json:"skipped"`
	Warnings  int             `json:"warnings"`
	Currency  *string         `json:"currency,omitempty"` // as in importResult
	Changes   []plannedChange `json:"changes"`            // the first maxShownChanges
	NotTold   []remote.Gap    `json:"not_told,omitempty"` // as in importResult
}

// plannedChange is a resource that would be created, updated or deleted.
type plannedChange struct {
	File    string               `json:"file"` // empty if no line names the resource
	Line    int                  `json:"line"` // then 0
	Type    string               `json:"type"`
	ID      string               `json:"id"`
	Created bool                 `json:"created"`
	Deleted bool                 `json:"deleted"`
	Members []store.MemberChange `json:"members"`
}

// plan prints what the import would do.
func (c *Import) plan(ctx context.Context, streams Streams, in input.Source) error {
	s, end, err := c.openToPlan(ctx, streams)
	if err != nil {
		return err
	}
	defer end()
	if err := c.readSheets(ctx, streams, s, in); err != nil {
		return err
	}
	bar := newProgressBar(streams.Err, "checking", in.Size(), 1)
	result := importPlan{Changes: []plannedChange{}}
	var made *exchange.ImportPlan
	err = c.reportFindings(in, func(w *findingWriter) (err error) {
		made, err = s.Exchange.PlanImport(ctx, importActor, in.Open, c.options(in, bar, w), func(change exchange.PlannedChange) {
			planned := newPlannedChange(change, in)
			if len(result.Changes) < maxShownChanges {
				result.Changes = append(result.Changes, planned)
			}
			w.writePlanned(planned)
		})
		return err
	})
	bar.end()
	if invalid := new(exchange.ImportErrors); errors.As(err, &invalid) {
		return explainFetched(in, printImportErrors(streams.Err, invalid, in, c.Report))
	}
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	printIgnored(streams.Err, made.ImportReport, in)
	printWarnings(streams.Err, made.ImportReport, in, c.Report, true)
	result.Created, result.Updated, result.Unchanged = made.Created, made.Updated, made.Unchanged
	result.Deleted, result.Kept, result.Skipped, result.Warnings = made.Deleted, withoutZeros(made.Skipped), made.Left, made.WarningCount
	result.Currency = made.Currency
	if !c.JSON {
		result.print(streams.Out, c.Report)
	}
	result.NotTold = printGaps(c.Output, streams, in)
	return c.printJSON(streams, result)
}

// openToPlan opens the database to compare with. If it does not exist, openToPlan opens an empty one in a temporary folder. end
// closes it and removes the folder.
func (c *Import) openToPlan(ctx context.Context, streams Streams) (s *shop.Store, end func(), err error) {
	s, err = c.OpenToRead(ctx, c.Log(streams))
	if err == nil {
		return s, func() { s.Close() }, nil
	}
	missing := new(shop.OpenError)
	if !errors.Is(err, shop.ErrNoShop) || !errors.As(err, &missing) {
		return nil, nil, err
	}
	folder, err := os.MkdirTemp("", "portico-")
	if err != nil {
		return nil, nil, err
	}
	empty := c.StoreFlags
	empty.DatabaseURL = "file:" + filepath.Join(folder, "empty.db")
	if s, err = empty.Open(ctx, c.Log(streams)); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	fmt.Fprintf(streams.Err, "there is no shop in %s yet: an import would create it\n", missing.Database)
	return s, func() { s.Close(); os.RemoveAll(folder) }, nil
}

func newPlannedChange(change exchange.PlannedChange, in input.Source) plannedChange {
	planned := plannedChange{Type: change.Type, ID: change.ID, Created: change.Created, Deleted: change.Deleted, Members: slices.Concat([]store.MemberChange{}, change.Members)}
	planned.File, planned.Line = position(in, change.Line)
	return planned
}

// print prints the first changes and the counts. report is the file that has all changes; empty for none.
func (p importPlan) print(w io.Writer, report string) {
	for _, change := range p.Changes[:min(len(p.Changes), maxPrintedChanges)] {
		fmt.Fprintln(w, change)
	}
	printMore(w, sum(p.Created)+sum(p.Updated)+sum(p.Deleted)-min(len(p.Changes), maxPrintedChanges), report)
	for _, part := range []struct {
		verb   string
		counts map[string]int
	}{{"would create", p.Created}, {"would update", p.Updated}, {"would delete", p.Deleted}, {"unchanged", p.Unchanged}, {"would keep existing", p.Kept}, {"would skip", p.Skipped}} {
		if sum(part.counts) > 0 {
			fmt.Fprintf(w, "%s: %s\n", part.verb, joinCounts(part.counts))
		}
	}
	if p.Currency != nil {
		fmt.Fprintf(w, "would set the currency of the shop to %s, the only one of its prices\n", *p.Currency)
	}
	fmt.Fprintln(w, "nothing was imported")
}

// String is "shop.ndjson:3: update product mug: attributes.name "A" to "B"".
func (p plannedChange) String() string {
	if p.Deleted {
		return fmt.Sprintf("%sdelete %s %s", place(p.File, p.Line), p.Type, p.ID)
	}
	if p.Created {
		return fmt.Sprintf("%s:%d: create %s %s", p.File, p.Line, p.Type, p.ID)
	}
	text := fmt.Sprintf("%s:%d: update %s %s", p.File, p.Line, p.Type, p.ID)
	return text + describeMembers(p.Members)
}

// writePlanned writes a change as one finding for each member. A nil writer writes nothing.
func (w *findingWriter) writePlanned(p plannedChange) {
	if w == nil {
		return
	}
	f := finding{Severity: "update", File: p.File, Line: p.Line, Type: p.Type, Message: p.ID}
	if p.Created {
		f.Severity = "create"
	} else if p.Deleted {
		f.Severity = "delete"
	}
	if p.Created || len(p.Members) == 0 { // the file has the members of a new one
		w.write(f)
		return
	}
	for _, m := range p.Members {
		f.Member = strings.Join(m.Path, ".")
		f.Message = p.ID + ": " + strings.TrimPrefix(describeMember(m), f.Member+" ")
		w.write(f)
	}
}

// sum adds counts.
func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
