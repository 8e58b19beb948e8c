// Package release is what shoppers read: a View of the release that the rules
// select for them, with its products, nodes, prices, files, facets and search.
// A Service makes views, each View embeds a segment.Reader, and a
// Product is one row. It must not import publish or shop.
package release

import (
	"context"
	"strconv"

	"golang.org/x/text/language"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/price"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// Service makes views of releases, and lists them.
type Service struct {
	*routing.Router
	db    *db.DB
	stock StockLevels
}

// StockLevels reads the stock of products.
type StockLevels interface {
	// AvailableUnits returns the available units of products in the order of their ids; store.NoStockRecord for one without a record.
	AvailableUnits(ctx context.Context, ids []string) ([]int32, error)
	// InStockVersion returns a text that changes whenever a product comes into stock or runs out of it, and whenever a record is created or
	// deleted; with units whenever any record changes. It is empty if that is not known.
	InStockVersion(units bool) string
}

// NewService returns a service that reads a database, and live stock.
func NewService(d *db.DB, stock StockLevels) *Service {
	return &Service{routing.NewRouter(d), d, stock}
}

// List lists the releases of a catalog that are kept, newest first: the
// served one, the newest three, those served within the last hour (20 at most),
// and the bases of all these. NOT_FOUND for an unknown catalog.
func (s *Service) List(ctx context.Context, catalogID string) ([]*segment.Release, error) {
	if err := catalog.CatalogExists(ctx, s.db.Reader, catalogID); err != nil {
		return nil, err
	}
	return segment.KeptReleases(ctx, s.db.Reader, catalogID)
}

// Get returns a release that is kept; NOT_FOUND when it is not.
func (s *Service) Get(ctx context.Context, id string) (*segment.Release, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, store.NotFoundf(nil, "There is no release %q. The number of a release looks like 12.", store.Abbreviate(id))
	}
	return segment.KeptRelease(ctx, s.db.Reader, number)
}

// Monies writes amounts for people, in their order, in the first of languages, else
// in the locale of the settings.
func (s *Service) Monies(ctx context.Context, amounts []store.CurrencyAmount, languages []language.Tag) ([]*store.Money, error) {
	format, err := s.MoneyFormat(ctx, languages)
	if err != nil {
		return nil, err
	}
	list := make([]*store.Money, len(amounts))
	for i, a := range amounts {
		list[i] = format(a)
	}
	return list, nil
}

// MoneyFormat returns the function by which Monies writes an amount.
func (s *Service) MoneyFormat(ctx context.Context, languages []language.Tag) (func(store.CurrencyAmount) *store.Money, error) {
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	locale := amountLocale(languages, settings.Locale)
	return func(a store.CurrencyAmount) *store.Money {
		return price.NewFormatter(s.db.Cache, a.Currency, locale, cachekey.New(locale.String(), a.Currency)).Money(a.Minor)
	}, nil
}
