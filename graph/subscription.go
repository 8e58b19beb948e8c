package graph

import (
	"context"
	"time"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release/segment"
	"portico/store/stock"
)

// A subscription's channel is read by whoever sends its events, one at a time.
// Each goroutine here ends with the subscription's context, and holds no more
// than the newest state: what is offered is looked at again whenever it changed
// while nobody took it.

func (r subscriptionResolver) StockChanged(ctx context.Context, productIds []string) (<-chan *model.Stock, error) {
	if err := auth.Require(ctx, "Subscription.stockChanged"); err != nil {
		return nil, err
	}
	if len(productIds) > maxStocks {
		return nil, tooMany("product_ids", len(productIds), maxStocks)
	}
	watcher, err := r.store.WatchStock(ctx, idsOf(productIds, func(id string) []string { return one(store.LocalID(id)) }))
	if err != nil {
		return nil, err
	}
	events := make(chan *model.Stock)
	go func() {
		defer close(events)
		defer watcher.Close()
		for {
			var offer chan *model.Stock // nil, which nobody takes from, while there is nothing
			var row *model.Stock
			stored, took := watcher.Newest()
			if stored != nil {
				offer, row = events, model.Siblings[model.Stock]([]*stock.Stock{stored})[0]
			}
			select {
			case offer <- row:
				took()
			case <-watcher.Changed():
			case <-ctx.Done():
				return
			}
		}
	}()
	return events, nil
}

func (r subscriptionResolver) JobProgress(ctx context.Context, id string) (<-chan *model.Job, error) {
	job, err := r.jobFor(ctx, "Subscription.jobProgress", id)
	if job, err = orNull(job, err); err != nil {
		return nil, err
	}
	events := make(chan *model.Job)
	if job == nil {
		go offerOnce(ctx, events, nil)
		return events, nil
	}
	watcher := r.store.WatchJob(job)
	go func() {
		defer close(events)
		defer watcher.Close()
		for {
			var offer chan *model.Job
			job, ok := watcher.Newest()
			if ok {
				offer = events
			}
			select {
			case offer <- jobOf(job):
				if watcher.Ack(job); !job.FinishedAt.IsZero() {
					return
				}
			case <-watcher.Changed():
			case <-ctx.Done():
				return
			}
		}
	}()
	return events, nil
}

// offerOnce offers one event, the last.
func offerOnce[T any](ctx context.Context, events chan<- T, event T) {
	defer close(events)
	select {
	case events <- event:
	case <-ctx.Done():
	}
}

func (r subscriptionResolver) CatalogPublished(ctx context.Context) (<-chan *segment.Release, error) {
	if err := auth.Require(ctx, "Subscription.catalogPublished"); err != nil {
		return nil, err
	}
	if _, err := r.seen(ctx); err != nil {
		return nil, err
	}
	changed, end := r.store.WatchCatalogs()
	events := make(chan *segment.Release)
	go func() {
		defer close(events)
		defer end()
		var told *segment.Release
		for {
			var offer chan *segment.Release
			seen, err := r.seen(ctx)
			if err == nil && seen.release != nil && !seen.release.Same(told) {
				offer = events
			}
			next := time.NewTimer(seen.lasts)
			select {
			case offer <- seen.release:
				told = seen.release
			case <-changed:
			case <-next.C:
			case <-ctx.Done():
				next.Stop()
				return
			}
			next.Stop()
		}
	}()
	return events, nil
}

// shownRelease is the release that a shopper sees, and for how long the clock leaves it
// so.
type shownRelease struct {
	release *segment.Release // nil while nothing is published
	lasts   time.Duration
}

// Bounds of how long a release is believed to be seen unless something says
// otherwise.
const (
	seenAtMost  = time.Hour
	seenAtLeast = time.Second // after a failure too
)

// seen asks anew, whatever the operation was told before.
func (r *Resolver) seen(ctx context.Context) (shownRelease, error) {
	resolution, err := r.store.CatalogResolution(ctx, opctx.Shopper(ctx), nil)
	if err != nil {
		return shownRelease{lasts: seenAtLeast}, err
	}
	now := shownRelease{resolution.Release, seenAtMost}
	if until := resolution.ValidUntil; !until.IsZero() {
		now.lasts = min(seenAtMost, max(seenAtLeast, until.Sub(resolution.At)))
	}
	return now, nil
}
