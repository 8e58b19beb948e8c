package exchange

import (
	"context"
	"errors"
	"time"

	"github.com/bojanz/currency"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/promotion/code"
	"portico/store/settings"
)

// settingsChange is what an import changes of the settings before it writes the lines: codes_ignore_case, and the currency of a
// new shop. A nil member stays.
type settingsChange struct {
	now        time.Time // by which codes count as expired
	ignoreCase *bool     // that a line sets
	line       int       // the number of that line
	currency   *string   // of the prices
	keeps      bool      // the shop keeps its currency: prices have several, a line sets it, or somebody has changed the settings
}

// add notes what a line sets, and the currencies of a price.
func (c *settingsChange) add(d check.Line) {
	change := settings.ChangeOf(d.Source)
	if change.CodesIgnoreCase != nil {
		c.ignoreCase, c.line = change.CodesIgnoreCase, d.Number
	}
	c.keeps = c.keeps || change.Currency != nil
	if price, is := d.Source.(*catalog.PriceSource); is {
		for priced := range price.Attributes.Currencies {
			c.keeps = c.keeps || c.currency != nil && *c.currency != priced
			c.currency = &priced
		}
	}
}

// prepare returns the error of the line if codes of the store keep the setting from being switched on. It forgets what the
// store has already, and the currency if the shop keeps its own or has prices.
func (c *settingsChange) prepare(ctx context.Context, in db.Session) (list []check.ImportError, err error) {
	if c.ignoreCase == nil && c.currency == nil {
		return nil, nil
	}
	stored, err := db.ReadSettings(ctx, in)
	if err != nil {
		return nil, err
	}
	_, priced, err := db.One(ctx, in, db.Scalar[int], `SELECT 1 FROM price LIMIT 1`)
	if err != nil {
		return nil, err
	}
	if c.keeps || priced || c.currency != nil && (*c.currency == stored.Currency || !currency.IsValid(*c.currency)) {
		c.currency = nil
	}
	if c.ignoreCase == nil || *c.ignoreCase == stored.CodesIgnoreCase {
		c.ignoreCase = nil
		return nil, nil
	}
	if !*c.ignoreCase {
		return nil, nil
	}
	err = code.CheckCase(ctx, in, c.now)
	if conflict, is := errors.AsType[*store.Error](err); is {
		return []check.ImportError{{Line: c.line, Type: settings.Kind.Name, Err: conflict}}, nil
	}
	return nil, err
}
