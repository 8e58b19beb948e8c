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
	now     time.Time
	ignored *bool
	line    int
}

func (c *caseSwitch) add(d check.Line) {
	if ignored := settings.CodesIgnoreCase(d.Source); ignored != nil {
		c.ignored, c.line = ignored, d.Number
	}
}

// conflicts returns the error of the line if codes of the store keep the setting from being switched on. A file that
// sets the stored value switches nothing.
func (c *caseSwitch) conflicts(ctx context.Context, in db.Session) (list []check.ImportError, err error) {
	if c.ignored == nil {
		return nil, nil
	}
	stored, err := db.ReadSettings(ctx, in)
	if err != nil {
		return nil, err
	}
	if *c.ignored == stored.CodesIgnoreCase {
		c.ignored = nil
		return nil, nil
	}
	if !*c.ignored {
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
	if c.ignored == nil {
		return nil
	}
	_, err := settings.NewService(d).Update(ctx, actor, settings.SettingsChange{CodesIgnoreCase: c.ignored})
	return err
}
