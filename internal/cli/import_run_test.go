package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// importLines runs the import command with lines of a file on a database.
func importLines(t *testing.T, ctx context.Context, database, name, text string, flags ...string) (code int, out, stderr string) {
	t.Helper()
	file := filepath.Join(filepath.Dir(database), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	var stdout, errors bytes.Buffer
	var grammar struct {
		Import Import `cmd:""`
	}
	code = Main(ctx, &grammar, append([]string{"import", "--database-url", "file:" + database, file}, flags...), Streams{Out: &stdout, Err: &errors})
	return code, stdout.String(), strings.ReplaceAll(errors.String(), filepath.Dir(database)+"/", "")
}

const pricedShop = `{"type":"product","id":"mug","attributes":{"name":"Mug","sku":"MUG","status":"live"}}
{"type":"hierarchy","id":"h","attributes":{"name":"H"}}
{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"mug"}]}}}
{"type":"pricebook","id":"b","attributes":{"name":"B"}}
{"type":"product-price","id":"p","attributes":{"sku":"MUG","currencies":{"EUR":{"amount":100}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"b"}}}}
{"type":"catalog","id":"main","attributes":{"name":"M","hierarchies":["h"],"pricebook_ids":[{"id":"b","priority":1}]}}
`

// TestImportTellsTheCurrency checks what the command says of the currency that a shop takes over, and of a catalog whose prices
// have another one.
func TestImportTellsTheCurrency(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "shop.db")
	code, out, stderr := importLines(t, t.Context(), database, "shop.ndjson", pricedShop, "--dry-run")
	require.Zero(t, code, stderr)
	require.Contains(t, out, "\nwould set the currency of the shop to EUR, the only one of its prices\nnothing was imported\n")
	code, out, stderr = importLines(t, t.Context(), database, "shop.ndjson", pricedShop)
	require.Zero(t, code, stderr)
	require.Contains(t, out, "\nset the currency of the shop to EUR, the only one of its prices\npublished main")
	require.Empty(t, stderr)

	code, _, stderr = importLines(t, t.Context(), database, "usd.ndjson", `{"type":"settings","currency":"USD"}`, "--settings")
	require.Zero(t, code)
	require.Contains(t, stderr, "\nwarning: shoppers see no price in the catalog main, which has prices in EUR and none in USD: import {\"type\":\"settings\",\"currency\":\"EUR\"} with --settings, or prices in USD.\n")
}

// TestErrorsShowWarningsToo checks that an import with errors prints its warnings, which are no errors for want of --strict.
func TestErrorsShowWarningsToo(t *testing.T) {
	t.Parallel()
	code, _, stderr := importLines(t, t.Context(), filepath.Join(t.TempDir(), "shop.db"), "p.csv", "sku,name,status,upc_ean,files\nMUG,Mug,alive,4006381333932,\nTEA,Tea,live,,a.jpg\n")
	require.Equal(t, 1, code)
	require.Equal(t, `p.csv:2: product: status must be one of live, draft, got "alive".
p.csv:3: product: files must be the id of a file; the URL of a picture belongs into the href of the file, in CSV into files.csv, got "a.jpg".
p.csv:2: warning: product: upc_ean ends with 2, and the other digits ask for 1; compare it with the package, got "4006381333932".
portico: 2 errors and 1 warning. Nothing was imported
`, stderr)
}

// canceler is an Observer that cancels a context before a statement, or after a write.
type canceler struct {
	before string // part of a statement; empty to cancel after the first write
	cancel func()
}

func (c canceler) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	return ctx, func(err error) {
		if c.before == "" && step == store.StepWrite && err == nil {
			c.cancel()
		}
	}
}

func (c canceler) Statement(_ context.Context, query string, _ time.Time, _ int64, _ error) {
	if c.before != "" && strings.Contains(query, c.before) {
		c.cancel()
	}
}

// TestInterruptedImports checks what the command says that an interruption left, while lines are checked and after a write.
func TestInterruptedImports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, flag, left string }{
		{"lines are checked", "FROM change WHERE topic", "--no-publish", "interrupted. Nothing was imported. Run the command again"},
		{"a dry run", "FROM change WHERE topic", "--dry-run", "interrupted. Nothing was imported. Run the command again"},
		{"lines are written", "", "--no-publish", "interrupted. What was already written stays. Run the command again to finish"},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := filepath.Join(t.TempDir(), "shop.db")
			code, _, stderr := importLines(t, t.Context(), database, "shop.ndjson", pricedShop, "--no-publish")
			require.Zero(t, code, stderr)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			lines := `{"type":"pricebook","id":"c","attributes":{"name":"C"}}` + "\n" + `{"type":"product","id":"mug","deleted":true}` // deletions come in another transaction
			code, out, stderr := importLines(t, store.WithObserver(ctx, canceler{c.before, cancel}), database, "more.ndjson", lines, c.flag)
			require.Equal(t, 1, code, out)
			require.Contains(t, stderr, "portico: "+c.left+"\n")
		})
	}
}
