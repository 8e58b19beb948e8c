package storetest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/exchange/check"
	"portico/store/shop"
)

// Source returns text as the source of an import.
func Source(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// Import imports a file that must be without errors, with stock and settings.
func Import(t require.TestingT, s *shop.Store, text string) *exchange.ImportReport {
	report, err := s.Exchange.Import(context.Background(), Actor, Source(text), exchange.ImportOptions{Stock: true, Settings: true})
	require.NoError(t, err)
	return report
}

// ImportWithOptions imports a file, by default without stock and settings, as the import
// command does. It drops the types with 0 from Skipped of the report, so that tests can compare the map.
func ImportWithOptions(t *testing.T, s *shop.Store, text string, options ...func(*exchange.ImportOptions)) *exchange.ImportReport {
	t.Helper()
	var o exchange.ImportOptions
	for _, option := range options {
		option(&o)
	}
	report, err := s.Exchange.Import(t.Context(), Actor, Source(text), o)
	require.NoError(t, err)
	for kind, n := range report.Skipped {
		if n == 0 {
			delete(report.Skipped, kind)
		}
	}
	return report
}

// ImportErrors returns the errors of a failed import.
func ImportErrors(t require.TestingT, err error) []check.ImportError {
	var errs *exchange.ImportErrors
	require.ErrorAs(t, err, &errs)
	require.Equal(t, errs.Count, len(errs.Errors))
	return errs.Errors
}

// Export returns the whole store as an import file.
func Export(t require.TestingT, s *shop.Store) string {
	var out bytes.Buffer
	_, err := s.Exchange.Export(context.Background(), &out, exchange.ExportOptions{WithClients: true})
	require.NoError(t, err)
	return out.String()
}

// RequireSameAfterImport imports the store's export into an empty store, which must export the
// same.
func RequireSameAfterImport(t *testing.T, backend Backend, s *shop.Store) {
	t.Helper()
	want := Export(t, s)
	other := OpenEmpty(t, backend)
	Import(t, other, want)
	RequireSameLines(t, want, Export(t, other))
}

// RequireSameLines compares two long files and shows only the first line that differs.
func RequireSameLines(t require.TestingT, want, got string) {
	wanted, found := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(found)) {
		require.Equal(t, wanted[i], found[i], "line %d", i+1)
	}
	require.Equal(t, len(wanted), len(found), "lines")
}
