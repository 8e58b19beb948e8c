package cli

import (
	"context"
	"fmt"
	"time"

	"portico/store"
	"portico/store/job"
	"portico/store/publish"
	"portico/store/shop"
)

// scheduledList is the result of publish --at, --scheduled and --cancel.
type scheduledList []scheduledEntry

type scheduledEntry struct {
	Job     string  `json:"job"`
	Catalog string  `json:"catalog"`
	At      *string `json:"at"`
	State   string  `json:"state"`
	Label   string  `json:"label"`
	Actor   string  `json:"actor"`
}

// exampleScheduled is what the help of publish shows of --json.
var exampleScheduled = scheduledEntry{"0197d6a0-0000-7000-8000-000000000000", "catalog-coffee", new("2026-12-01T08:00:00Z"), string(job.Scheduled), "winter", "command:publish"}

func newScheduledEntry(task *job.Job) scheduledEntry {
	return scheduledEntry{task.ID, publish.CatalogOfJob(task), timestamp(task.RunAt), string(task.State), publish.NotesOfJob(task).Label, string(task.Actor)}
}

func (l scheduledList) String() string {
	rows := [][]string{{"JOB", "CATALOG", "AT", "STATE", "LABEL", "ACTOR"}}
	for _, e := range l {
		rows = append(rows, []string{e.Job, e.Catalog, orDash(e.At), e.State, orDash(store.NonEmpty(e.Label)), e.Actor})
	}
	return table(rows)
}

// schedule adds, lists or cancels scheduled publications. It prints a text, or with --json the entries.
func (c *Publish) schedule(ctx context.Context, s *shop.Store, streams Streams) error {
	switch {
	case c.Cancel != "":
		return c.cancel(ctx, s, streams)
	case c.Scheduled:
		return c.listScheduled(ctx, s, streams)
	}
	at, err := parseTime(streams, "--at", c.At)
	if err != nil {
		return err
	}
	catalogs, err := chosenCatalogs(ctx, s, c.Catalogs)
	if err != nil {
		return err
	}
	list := scheduledList{}
	for _, id := range catalogs {
		task, err := s.Publisher.RequestPublication(ctx, publishActor, id, publish.PublicationRequest{Serve: true, Notes: c.notes(), At: at})
		if err != nil {
			return fmt.Errorf("schedule %s: %w", id, err)
		}
		list = append(list, newScheduledEntry(task))
		c.printLine(streams, fmt.Sprintf("scheduled %s at %s: job %s", id, task.RunAt.Format(time.RFC3339), task.ID))
	}
	return c.printJSON(streams, list)
}

// listScheduled prints the scheduled publications of the chosen catalogs. If none is chosen, it prints all, also those of catalogs
// that were deleted.
func (c *Publish) listScheduled(ctx context.Context, s *shop.Store, streams Streams) error {
	catalogs, err := chosenCatalogs(ctx, s, c.Catalogs)
	if err != nil {
		return err
	}
	tasks, err := s.Jobs.Scheduled(ctx, job.Publish)
	if err != nil {
		return fmt.Errorf("list the scheduled publications: %w", err)
	}
	chosen, list := store.SetOf(catalogs), scheduledList{}
	for _, task := range tasks {
		if entry := newScheduledEntry(task); len(c.Catalogs) == 0 || chosen[entry.Catalog] {
			list = append(list, entry)
		}
	}
	if len(list) == 0 {
		c.printLine(streams, "no publication is scheduled")
		return c.printJSON(streams, list)
	}
	return c.print(streams, list)
}

// cancel cancels a scheduled publication. It fails for other jobs, and for one that has begun.
func (c *Publish) cancel(ctx context.Context, s *shop.Store, streams Streams) error {
	task, err := s.Jobs.Get(ctx, c.Cancel)
	if store.HasCode(err, store.NotFound) || err == nil && (task.Kind != job.Publish || task.RunAt.IsZero()) {
		return fmt.Errorf("%q is not a scheduled publication. portico publish --scheduled lists them", c.Cancel)
	}
	if err == nil {
		task, err = s.Jobs.Cancel(ctx, publishActor, task.ID)
	}
	if err != nil {
		return fmt.Errorf("cancel %s: %w", c.Cancel, err)
	}
	entry := newScheduledEntry(task)
	if task.State != job.Canceled {
		return fmt.Errorf("job %s cannot be canceled: it is %s", task.ID, entry.State)
	}
	c.printLine(streams, fmt.Sprintf("canceled the publication of %s at %s", entry.Catalog, orDash(entry.At)))
	return c.printJSON(streams, scheduledList{entry})
}
