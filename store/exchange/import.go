package exchange

import (
	"context"
	"io"
	"runtime"
	"slices"
	"sync"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/settings"
)

// Import reads NDJSON, one resource a line in any order, and writes it by id. Unchanged
// resources are skipped, so repeating an import changes nothing; an import that was killed
// can be run again.
//
// It calls open for each of its two to six passes over the file. With ImportOptions.Merge, it writes
// the merged lines to a temporary file first. The first pass checks
// every line; on errors nothing is written, and the error is *ImportErrors. It also finds
// unchanged lines, which later passes skip, and likely mistakes, which it warns of. Memory grows by
// about 100 bytes a product of the file, for the hashes of its keys. Deletions come last.
func (s *Service) Import(ctx context.Context, actor store.Actor, open func() (io.ReadCloser, error), options ImportOptions) (*ImportReport, error) {
	c, err := s.checkImport(ctx, actor, open, options)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if options.Confirm != nil && len(c.deletions.replaced) > 0 {
		if err := options.Confirm(c.deletions.replaced); err != nil {
			return nil, err
		}
	}
	change := settings.Change{CodesIgnoreCase: c.settings.ignoreCase, Currency: c.settings.currency}
	if change.CodesIgnoreCase != nil || change.Currency != nil {
		if _, err := settings.NewService(s.db).Update(ctx, actor, change); err != nil {
			return nil, err
		}
	}
	limit := &authoring.AuditLimit{Left: recordedOneByOne}
	if err := s.writeLines(ctx, actor, c, limit, options); err != nil {
		return c.report, err
	}
	return c.report, s.deleteAll(ctx, actor, c.deletions, c.report, limit)
}

// writeLines runs the passes that write resources. If the file has resources of a type and of its Kind.After, those of the type
// are written by a second pass. A transaction gets whole batches, until they have linesAtOnce lines. It adds to the report.
func (s *Service) writeLines(ctx context.Context, actor store.Actor, c *checkedImport, limit *authoring.AuditLimit, options ImportOptions) error {
	report := c.report
	c.decoder.SkipLine = c.same.has
	passes := []func(string) bool{func(string) bool { return true }}
	if slices.ContainsFunc(check.Kinds, func(k authoring.Kind) bool { return report.Resources[k.Name] > 0 && report.Resources[k.After] > 0 }) {
		late := func(name string) bool { return check.KindByName(name).After != "" }
		passes = []func(string) bool{func(name string) bool { return !late(name) }, late}
	}
	least, err := s.linesAtOnce(ctx, options)
	if err != nil {
		return err
	}
	for _, wanted := range passes {
		var waiting []check.Line
		write := func() error {
			changed, skipped, err := s.importBatch(ctx, actor, waiting, c, limit)
			waiting = nil
			report.Changed += changed
			for kind, n := range skipped {
				report.Skipped[kind] += n
			}
			return err
		}
		err := c.eachBatch(ctx, options, func(batch []check.Line) error {
			for _, d := range batch {
				if d.Source != nil && wanted(d.Kind) {
					waiting = append(waiting, d)
				}
			}
			if len(waiting) < least {
				return nil
			}
			return write()
		})
		if err == nil {
			err = write()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linesAtOnce returns the least number of lines in a transaction. Ids come in any order, so each row
// of a transaction changes a page of each index, and larger transactions write fewer pages. Nobody
// waits for them before the first publication.
func (s *Service) linesAtOnce(ctx context.Context, options ImportOptions) (int, error) {
	_, published, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT id FROM release LIMIT 1`)
	if err != nil || published || options.Batch > 0 {
		return 1, err
	}
	return firstBatches * defaultBatch, nil
}

// checkedImport is an import whose lines are valid.
type checkedImport struct {
	open      func() (io.ReadCloser, error) // the lines, merged if the import merges
	merger    *lineMerger                   // nil if it does not
	close     func()                        // removes the merged lines
	decoder   *check.Decoder
	same      *unchangedLines // lines that later passes skip
	policy    *overwritePolicy
	deletions *deletionPlan
	settings  settingsChange
	report    *ImportReport
}

// eachBatch calls do with the lines of the import, merged if it merges, in batches.
func (c *checkedImport) eachBatch(ctx context.Context, options ImportOptions, do func([]check.Line) error) error {
	if c.merger != nil {
		options.LineBytes = c.merger.lineBytes()
	}
	return eachBatch(ctx, c.open, options, c.decoder, do)
}

// checkImport merges the lines, if asked to, and runs the first pass. The caller closes the result.
func (s *Service) checkImport(ctx context.Context, actor store.Actor, open func() (io.ReadCloser, error), options ImportOptions) (c *checkedImport, err error) {
	c = &checkedImport{open: open, close: func() {}, decoder: newLineDecoder(options), same: newUnchangedLines(), settings: settingsChange{now: s.db.Now()},
		report: &ImportReport{Resources: map[string]int{}, Deleted: map[string]int{}, Skipped: map[string]int{}, Left: map[string]int{}, IgnoredCount: map[string]int{}, WarningKinds: map[string]int{}}}
	if c.policy, err = newOverwritePolicy(ctx, s, options); err != nil {
		return nil, err
	}
	c.settings.keeps = c.policy.settings
	if options.Merge || options.Row != nil {
		if c.merger, err = s.mergeLines(ctx, c.decoder, open, options); err != nil {
			return nil, err
		}
		c.open, c.close = c.merger.open, c.merger.remove
	}
	if err := s.checkLines(ctx, c, options); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// checkLines runs the first pass, in which each checker sees all lines. Then it asks the checkers that need the whole file:
// references, attributes, deletions, numbers, redirects and settings. Another pass finds the warnings, if there are
// any. The error is *ImportErrors, sorted by line, with those that are Missing last.
func (s *Service) checkLines(ctx context.Context, c *checkedImport, options ImportOptions) error {
	report := c.report
	faults := &ImportErrors{}
	add := func(fault check.ImportError) {
		if faults.Count++; len(faults.Errors) < check.MaxImportErrors {
			faults.Errors = append(faults.Errors, fault)
		}
		if options.Found != nil {
			options.Found(fault, false)
		}
	}
	references, attributes := check.NewReferenceChecker("the file"), check.NewAttributeChecker()
	numbers, redirects := check.NumberChecker{}, check.RedirectChecker{}
	known, err := check.NewStoredKeys(ctx, s.db.Reader)
	if err != nil {
		return err
	}
	keys := check.NewKeyChecker(known, "files")
	var deletions []check.Line
	err = c.eachBatch(ctx, options, func(batch []check.Line) error {
		for _, d := range batch {
			for _, fault := range d.Errors {
				add(check.ImportError{Line: d.Number, Type: d.Kind, Err: fault})
			}
			report.recordIgnored(d)
			if d.Left {
				report.Left[d.Kind]++
			}
			if d.Deletes != "" && len(d.Errors) == 0 {
				deletions = append(deletions, d)
			}
			if d.Source != nil {
				report.Resources[d.Kind]++
				references.Add(d)
				attributes.Add(d)
				numbers.Add(d)
				redirects.Add(d)
				if options.Settings || !c.policy.settings {
					c.settings.add(d)
				}
			}
		}
		faulty, err := c.policy.ledger.Check(ctx, batch)
		for _, fault := range faulty {
			add(fault)
		}
		if err != nil {
			return err
		}
		return s.db.Snapshot(ctx, func(in db.Session) error {
			if faults.Count == 0 { // else nothing is written, and no line need be compared
				if err := catalog.SetTimes(ctx, in, s.db.Now(), sourcesOf(batch)); err != nil {
					return err
				}
				if err := c.same.compare(ctx, in, batch); err != nil {
					return err
				}
			}
			return keys.Add(ctx, in, batch, c.same.lines.has)
		})
	})
	if err != nil {
		return err
	}
	missing, err := references.Missing(ctx, s.db.Reader)
	if err != nil {
		return err
	}
	wrong, err := attributes.Wrong(ctx, s.db.Reader)
	if err != nil {
		return err
	}
	options.Progress = nil // further passes of the check are no share of the whole
	batches := func(do func([]check.Line) error) error { return c.eachBatch(ctx, options, do) }
	if c.deletions, err = s.planDeletions(ctx, deletions, batches, options); err != nil {
		return err
	}
	for _, find := range []func(context.Context, db.Session) ([]check.ImportError, error){numbers.TooMany, redirects.Loops, c.settings.prepare} {
		found, err := find(ctx, s.db.Reader)
		if err != nil {
			return err
		}
		wrong = append(wrong, found...)
	}
	for _, fault := range slices.Concat(missing, wrong, c.deletions.faults) {
		add(fault)
	}
	if keys.Finish(c.deletions.deletes) {
		if err := keys.Warn(ctx, batches, s.db.Reader, func(warning check.ImportError) { report.warn(warning, options, add) }); err != nil {
			return err
		}
	}
	for _, warning := range c.deletions.warnings {
		report.warn(warning, options, add)
	}
	report.Currency = c.settings.currency
	report.Skipped["stock_transaction"] = c.policy.ledger.Skipped
	if faults.Count > 0 {
		slices.SortStableFunc(faults.Errors, func(a, b check.ImportError) int {
			if a.Missing != b.Missing {
				if a.Missing {
					return 1
				}
				return -1
			}
			return a.Line - b.Line
		})
		faults.Report = report
		return faults
	}
	return nil
}

// sourcesOf returns the sources of lines that have one.
func sourcesOf(batch []check.Line) (sources []authoring.Source) {
	for _, d := range batch {
		if d.Source != nil {
			sources = append(sources, d.Source)
		}
	}
	return sources
}

// eachBatch decodes a file on all processors and calls do with the batches in order, from one goroutine. It ends with the
// first error of do, of the file or of ctx.
func eachBatch(ctx context.Context, open func() (io.ReadCloser, error), options ImportOptions, decoder *check.Decoder, do func([]check.Line) error) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()

	// pending holds the batches in progress, in the order of the file.
	pending := make(chan chan []check.Line, batchesAhead())
	var readErr error
	readers.Go(func() {
		defer close(pending)
		readErr = readLines(file, options, func(first int, lines [][]byte) error {
			result := make(chan []check.Line, 1)
			select {
			case pending <- result:
			case <-ctx.Done():
				return ctx.Err()
			}
			readers.Go(func() { result <- decoder.Batch(first, lines) })
			return nil
		})
	})
	for result := range pending {
		if err := do(<-result); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return readErr
}

// batchesAhead is the number of batches decoded ahead.
func batchesAhead() int { return 2 * runtime.GOMAXPROCS(0) }
