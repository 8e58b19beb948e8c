package exchange

import (
	"context"
	"errors"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/promotion/code"
	"portico/store/settings"
)

// caseSwitch is the value of codes_ignore_case that a file sets, and its line; nil if it sets none.
type caseSwitch struct {
	now        time.Time // by which codes count as expired
	ignoreCase *bool
	line       int
}

// add notes what a line sets, if it sets the setting.
func (c *caseSwitch) add(d check.Line) {
	if ignore := settings.CodesIgnoreCase(d.Source); ignore != nil {
		c.ignoreCase, c.line = ignore, d.Number
	}
}

// prepare returns the error of the line if codes of the store keep the setting from being switched on. It forgets the line if
// that sets the stored value, so that run switches nothing.
func (c *caseSwitch) prepare(ctx context.Context, in db.Session) (list []check.ImportError, err error) {
	if c.ignoreCase == nil {
		return nil, nil
	}
	stored, err := db.ReadSettings(ctx, in)
	if err != nil {
		return nil, err
	}
	if *c.ignoreCase == stored.CodesIgnoreCase {
		c.ignoreCase = nil
		return nil, nil
	}
	if !*c.ignoreCase {
		return nil, nil
	}
	err = code.CheckCase(ctx, in, c.now)
	if conflict, is := errors.AsType[*store.Error](err); is {
		return []check.ImportError{{Line: c.line, Type: settings.SettingsKind.Name, Err: conflict}}, nil
	}
	return nil, err
}

// run switches the setting, before the lines are written.
func (c *caseSwitch) run(ctx context.Context, d *db.DB, actor store.Actor) error {
	if c.ignoreCase == nil {
		return nil
	}
	_, err := settings.NewService(d).Update(ctx, actor, settings.SettingsChange{CodesIgnoreCase: c.ignoreCase})
	return err
}
