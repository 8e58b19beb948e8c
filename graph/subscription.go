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

// Each subscription has a goroutine that ends with its context. It holds only the newest state: if the
// state changes before the transport has received an event, the goroutine replaces the event.

// StockChanged sends a stock record when it changes.
func (r subscriptionResolver) StockChanged(ctx context.Context, productIds []string) (<-chan *model.Stock, error) {
	if err := auth.Require(ctx, "Subscription.stockChanged"); err != nil {
		return nil, err
	}
	if len(productIds) == 0 {
		return nil, store.Invalidf([]string{"product_ids"}, "must have at least one id")
	}
	if len(productIds) > maxStocks {
		return nil, tooMany("product_ids", len(productIds), maxStocks)
	}
	watcher, err := r.store.Stock.Watch(ctx, idsOf(productIds, func(id string) []string { return one(store.LocalID(id)) }))
	if err != nil {
		return nil, err
	}
	events := make(chan *model.Stock)
	go func() {
		defer close(events)
		defer watcher.Close()
		for {
			var offer chan *model.Stock // nil blocks, if there is nothing to send
			var row *model.Stock
			stored, ack := watcher.Newest()
			if stored != nil {
				offer, row = events, model.NewBatch[model.Stock]([]*stock.Stock{stored})[0]
			}
			select {
			case offer <- row:
				ack()
			case <-watcher.Changed():
			case <-ctx.Done():
				return
			}
		}
	}()
	return events, nil
}

// JobProgress sends the state of a job now and when it changes, until the job has finished. For an unknown job it sends null, once.
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
	watcher := r.store.Jobs.Watch(job)
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

// offerOnce sends one event and closes the channel.
func offerOnce[T any](ctx context.Context, events chan<- T, event T) {
	defer close(events)
	select {
	case events <- event:
	case <-ctx.Done():
	}
}

// CatalogPublished sends the release that the shopper sees now, and each one that takes its place: after a publication, after a
// change of rules, or because a rule's schedule starts or ends.
func (r subscriptionResolver) CatalogPublished(ctx context.Context) (<-chan *model.CatalogRelease, error) {
	if err := auth.Require(ctx, "Subscription.catalogPublished"); err != nil {
		return nil, err
	}
	if _, err := r.shownRelease(ctx); err != nil {
		return nil, err
	}
	changed, end := r.store.WatchCatalogs()
	events := make(chan *model.CatalogRelease)
	go func() {
		defer close(events)
		defer end()
		var sent *segment.Release
		for {
			var offer chan *model.CatalogRelease
			shown, err := r.shownRelease(ctx)
			if err == nil && shown.release != nil && !shown.release.Same(sent) {
				offer = events
			}
			next := time.NewTimer(shown.validFor)
			select {
			case offer <- model.NewBatch[model.CatalogRelease]([]*segment.Release{shown.release})[0]:
				sent = shown.release
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

// shownRelease is the release that a shopper sees, and when to look again.
type shownRelease struct {
	release  *segment.Release // nil if nothing is published
	validFor time.Duration    // until a schedule may change the release
}

// Limits of shownRelease.validFor. After an error it is minValid.
const (
	maxValid = time.Hour
	minValid = time.Second
)

// shownRelease reads the release that the shopper sees now, past the operation's view.
func (r *Resolver) shownRelease(ctx context.Context) (shownRelease, error) {
	resolution, err := r.store.Releases.CatalogResolution(ctx, opctx.Shopper(ctx), nil)
	if err != nil {
		return shownRelease{validFor: minValid}, err
	}
	shown := shownRelease{resolution.Release, maxValid}
	if until := resolution.ValidUntil; !until.IsZero() {
		shown.validFor = min(maxValid, max(minValid, until.Sub(resolution.At)))
	}
	return shown, nil
}
