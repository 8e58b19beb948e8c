package exchange

import (
	"bufio"
	"context"
	"io"

	"portico/store/authoring"
	"portico/store/db"
)

// ExportOptions select what to export.
type ExportOptions struct {
	WithClients bool // include API clients, with the hashes of their secrets
}

// Export writes all authored resources as NDJSON, from one snapshot, and returns the number
// of lines. Importing them into an empty store and exporting again gives the same file.
func (s *ExchangeService) Export(ctx context.Context, to io.Writer, options ExportOptions) (int, error) {
	e := &authoring.Exporter{Out: bufio.NewWriterSize(to, 1<<16)}
	err := s.db.Snapshot(ctx, func(in db.Session) error {
		e.In = in
		for _, kind := range allKinds {
			if kind.Private && !options.WithClients {
				continue
			}
			if err := kind.Export(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return e.Lines, err
	}
	return e.Lines, e.Out.Flush()
}
