package exchange

import (
	"bufio"
	"context"
	"io"

	"portico/store/authoring"
	"portico/store/db"
)

// ExportOptions say what goes into the file.
type ExportOptions struct {
	WithClients bool // API clients too, with the hashes of their secrets
}

// Export writes every authored resource as NDJSON, all of one moment, in an
// order in which Import finds the same store: import of an export into an
// empty store exports the same again. It returns how many lines it wrote.
func (s *ExchangeService) Export(ctx context.Context, to io.Writer, options ExportOptions) (int, error) {
	e := &authoring.Exporter{Out: bufio.NewWriterSize(to, 1<<16)}
	err := s.db.Snapshot(ctx, func(in db.Session) error {
		e.In = in
		for _, kind := range kinds {
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
