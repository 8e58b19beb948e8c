package release

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/language"

	"portico/internal/cachekey"
	"portico/internal/dependency"
	"portico/store"
	"portico/store/release/price"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// ShopperContext selects the catalog, the language and the currency of a View.
type ShopperContext = routing.ShopperContext

// View is a release as one shopper sees it now. Make one for each operation,
// and read everything of the catalog through it. It is safe for concurrent use.
type View struct {
	segment.Reader
	Currency string       // ISO 4217; store.NoCurrency if the catalog has no price in the one that the shopper requests
	Locale   language.Tag // in which amounts are written

	service  *Service
	tree     *treeOnce
	valid    *validity      // of what was read so far
	routing  *routing.Table // which the release was chosen from
	shopper  ShopperContext
	name     cachekey.Key // of languages, locale and currency; part of cache keys
	now      time.Time
	settings *store.Settings
	epoch    int64            // of the database, before anything was read
	state    dependency.State // of the catalog; zero for a release that the shopper requested by its id
}

// treeOnce is the tree of a view's release, read on first use, once in an operation.
type treeOnce struct {
	once sync.Once
	tree *segment.Tree
	err  error
}

// View returns the view of the release that the rules select for a shopper, or
// that the shopper requests by its id. NOT_FOUND when none is published.
func (s *Service) View(ctx context.Context, shopper ShopperContext) (*View, error) {
	epoch := s.db.Epoch() // before anything is read
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	table, err := s.Table(ctx)
	if err != nil {
		return nil, err
	}
	now := s.db.Now()
	release := table.Choose(shopper, now)
	var state dependency.State
	if shopper.ReleaseID != "" {
		if release, err = s.Get(ctx, shopper.ReleaseID); err != nil {
			return nil, err
		}
	} else if release != nil {
		state = table.State(release.CatalogID)
	}
	if release == nil {
		return nil, store.NotFoundf(nil, "No catalog is published yet. Publish one first.")
	}
	made := &struct { // one allocation for all
		View
		treeOnce
		validity
		dependency.Recorder
	}{}
	accepted := s.acceptedLanguages(release, shopper.Languages)
	v := &made.View
	*v = View{Reader: segment.NewReader(s.db, release, accepted.languages), tree: &made.treeOnce, valid: &made.validity,
		Currency: shopper.Currency, Locale: accepted.locale,
		service: s, routing: table, shopper: shopper, now: now, settings: settings, epoch: epoch, state: state}
	v.Cache = v.Cache.OrPerOperation() // so that nothing is read twice
	v.Reads = &made.Recorder
	standard := table.Currency(release.CatalogID, settings)
	if v.Currency == "" {
		v.Currency = standard
	}
	if v.Currency != standard { // a text of the client becomes part of keys only if the shop has it too
		v.Reads.Add(segment.AnyCurrency)
		known, err := v.HasPricesIn(ctx, v.Currency)
		if err != nil {
			return nil, err
		}
		if !known {
			v.Currency = store.NoCurrency
		}
	}
	v.name = cachekey.Join(accepted.name, cachekey.New(v.Currency))
	return v, nil
}

// ViewOf returns a view of a release for internal use, without a shopper: it
// has no language, currency or page length, and is read from the primary.
func (s *Service) ViewOf(release *segment.Release) *View {
	own := &View{Reader: segment.NewReader(s.db, release, nil), service: s, tree: &treeOnce{}, valid: &validity{}, settings: &store.Settings{},
		now: s.db.Now()}
	own.Primary = true
	return own
}

// Uncached returns a view of release, which may be another one than v shows. It caches
// nothing: release may not be published yet, or is read whole and once.
func Uncached(v *View, release *segment.Release) *View {
	own := *v
	own.Release, own.Cache = release, nil
	return &own
}

// Ahead returns the view with a cache, if only one for this view, which ViewOf and Uncached may not have.
func (v *View) Ahead() *View {
	ahead := *v
	ahead.Cache = v.Cache.OrPerOperation()
	return &ahead
}

// Resolution explains how the view's catalog was selected.
func (v *View) Resolution() *routing.CatalogResolution {
	if v.shopper.ReleaseID != "" {
		return v.routing.ExplainRequested(v.shopper, v.now, v.Release)
	}
	return v.routing.Explain(v.shopper, v.now)
}

// CatalogResolution explains which catalog a shopper would see at a time; nil
// is now.
func (s *Service) CatalogResolution(ctx context.Context, shopper ShopperContext, at *time.Time) (*routing.CatalogResolution, error) {
	table, err := s.Table(ctx)
	if err != nil {
		return nil, err
	}
	now := s.db.Now()
	if at != nil {
		now = *at
	}
	return table.Explain(shopper, now), nil
}

// RequestedCurrency returns the currency that the shopper requests, also if the catalog has no price in it.
func (v *View) RequestedCurrency() string { return cmp.Or(v.shopper.Currency, v.Currency) }

// formatter returns the formatter of the view's currency.
func (v *View) formatter() price.Formatter {
	return price.NewFormatter(v.Cache, v.Currency, v.Locale, v.name)
}

// Money writes an amount of minor units of the view's currency, in the shopper's locale.
func (v *View) Money(minor int64) *store.Money { return v.formatter().Money(minor) }

// formatterOf returns the formatter of any currency, in the shopper's locale.
func (v *View) formatterOf(currency string) price.Formatter {
	if currency == v.Currency {
		return v.formatter()
	}
	return price.NewFormatter(v.Cache, currency, v.Locale, cachekey.New(v.Locale.String(), currency))
}

// Routing returns the routing table that chose the view's release.
func (v *View) Routing() *routing.Table { return v.routing }

// Now is the view's time, which decides the prices.
func (v *View) Now() time.Time { return v.now }

// Clock returns the clock that Now was read from.
func (v *View) Clock() func() time.Time { return v.service.db.Now }

// AppendKey appends, as parts of a cachekey.Key, what a response read through the view depends on, but for
// the request, the time and the State: the catalog, the languages, the currency,
// the default currency and the page length. It has the release only if the shopper requested it by
// its id. A restored database does not repeat a key. The key names no shopper.
func (v *View) AppendKey(dst []byte) []byte {
	if v.state.Changing() {
		dst = cachekey.AppendPart(cachekey.AppendPart(dst, "catalog"), v.Release.CatalogID)
	} else {
		id := v.Release.CacheIdentity()
		dst = cachekey.AppendInt(cachekey.AppendInt(cachekey.AppendPart(dst, "release"), id.Number), id.Published)
	}
	dst = cachekey.AppendKey(cachekey.AppendInt(dst, v.epoch), v.name)
	dst = cachekey.AppendPart(dst, v.routing.Currency(v.Release.CatalogID, v.settings))
	return cachekey.AppendInt(dst, int64(v.settings.PageLength))
}

// State is the state of the catalog that the view shows. Two views with one
// AppendKey show the same in all that did not change between their states, for
// as long as Holds says.
func (v *View) State() dependency.State { return v.state }

// Dependencies returns what was read through the view so far.
func (v *View) Dependencies() *dependency.Dependencies { return v.Reads.Dependencies(v.state) }

// validity is the time in which what was read through a view stays the same:
// between two starts or ends of sales.
type validity struct {
	from, until atomic.Int64                            // microseconds; 0 is unbounded
	mixed       atomic.Bool                             // some of it is of another release, to which a cursor led
	live        atomic.Bool                             // a list was filtered by live stock, or a cart compared with it
	earlier     atomic.Pointer[dependency.Dependencies] // of a cached response; nil for none
}

// narrow limits the time to that between two moments, in microseconds; 0 is
// unbounded. Several goroutines may call it, so a bound that another one narrowed meanwhile is compared again.
func (l *validity) narrow(from, until int64) {
	for old := l.from.Load(); from > old && !l.from.CompareAndSwap(old, from); old = l.from.Load() {
	}
	for old := l.until.Load(); until != 0 && (old == 0 || until < old) && !l.until.CompareAndSwap(old, until); old = l.until.Load() {
	}
}

// Holds returns how long a response that was read through the view stays the
// same: from a time until just before another; the zero time is unbounded.
// keep is false if a cursor led into another release, or if a list was filtered by
// live stock. Other live data, such as the stock of a product, does not count.
func (v *View) Holds() (from, until time.Time, keep bool) {
	if at := v.valid.from.Load(); at != 0 {
		from = store.FromMicros(at)
	}
	if at := v.valid.until.Load(); at != 0 {
		until = store.FromMicros(at)
	}
	return from, until, !v.valid.mixed.Load() && !v.valid.live.Load()
}

// Live reports whether a list was filtered by live stock, or a cart compared with it.
func (v *View) Live() bool { return v.valid.live.Load() }

// Reuse adds to Holds and Choice what a response depends on that an earlier view
// was read for: the time in which it holds, where a zero time is unbounded, and
// what it was made from. A view reuses one response.
func (v *View) Reuse(from, until time.Time, made *dependency.Dependencies) {
	bounds := [2]int64{}
	for i, at := range []time.Time{from, until} {
		if !at.IsZero() {
			bounds[i] = store.Micros(at)
		}
	}
	v.valid.narrow(bounds[0], bounds[1])
	v.valid.earlier.Store(made)
}

// Choice is what a view was chosen by, and what a response depends on that was
// read through it.
type Choice struct {
	service     *Service
	routes      uint64 // routing.Table.Routes
	catalogID   string
	settings    *store.Settings
	epoch       int64
	from, until time.Time                   // zero for no bound
	made        [2]*dependency.Dependencies // read through the view, and of a response that was reused
}

// Choice returns what the view was chosen by, with what was read through it so
// far; nil if that is for this view alone, or in a currency without prices.
func (v *View) Choice() *Choice {
	from, until, keep := v.Holds()
	if !keep || !v.state.Changing() || v.Currency == store.NoCurrency {
		return nil
	}
	if from.Before(v.now) { // the clock may be set back
		from = v.now
	}
	if ends := v.routing.HoldsUntil(v.now); until.IsZero() || !ends.IsZero() && ends.Before(until) {
		until = ends
	}
	return &Choice{service: v.service, routes: v.routing.Routes(), catalogID: v.Release.CatalogID, settings: v.settings, epoch: v.epoch,
		from: from, until: until, made: [2]*dependency.Dependencies{v.Dependencies(), v.valid.earlier.Load()}}
}

// Bytes returns the memory of what the response depends on.
func (c *Choice) Bytes() int { return c.made[0].Size() + c.made[1].Size() }

// Current reports whether a view for the same shopper would now show the same,
// live data aside. It reads nothing from the database: false if that is needed.
func (c *Choice) Current() bool {
	settings, ok := c.service.db.CachedSettings()
	if !ok || settings != c.settings {
		return false
	}
	table, ok := c.service.CachedTable()
	now := c.service.db.Now()
	if !ok || table.Routes() != c.routes || c.service.db.Epoch() != c.epoch || now.Before(c.from) || !c.until.IsZero() && !now.Before(c.until) {
		return false
	}
	state := table.State(c.catalogID)
	return c.made[0].HoldIn(state) && c.made[1].HoldIn(state)
}
