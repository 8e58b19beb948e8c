package exchange

import (
	"bufio"
	"context"
	"io"
	"slices"

	"portico/store/authoring"
	"portico/store/db"
	"portico/store/exchange/check"
)

// ExportOptions select what to export.
type ExportOptions struct {
	WithClients bool     // include API clients, with the hashes of their secrets
	Only        []string // the types; all if it is empty
}

// Export writes all authored resources as NDJSON, from one snapshot, and returns the number
// of lines. Importing them into an empty store and exporting again gives the same file.
func (s *Service) Export(ctx context.Context, to io.Writer, options ExportOptions) (int, error) {
	lines := 0
	err := s.db.Snapshot(ctx, func(in db.Session) (err error) {
		lines, err = export(ctx, in, to, options)
		return err
	})
	return lines, err
}

func export(ctx context.Context, in db.Session, to io.Writer, options ExportOptions) (int, error) {
	e := &authoring.Exporter{In: in, Out: bufio.NewWriterSize(to, 1<<16)}
	for _, kind := range check.Kinds {
		if kind.Private && !options.WithClients || len(options.Only) > 0 && !slices.Contains(options.Only, kind.Name) {
			continue
		}
		if err := kind.Export(ctx, e); err != nil {
			return e.Lines, err
		}
	}
	return e.Lines, e.Out.Flush()
}
