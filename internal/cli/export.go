package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"portico/store/exchange"
	"portico/store/exchange/sheet"
)

// OutputFile is the file that a command writes its data to.
type OutputFile struct {
	File string `arg:"" help:"File to write; - is standard output. An existing file is replaced when the export is complete."`
	Output
}

// Validate checks what the parser cannot.
func (f *OutputFile) Validate() error {
	if f.File == "-" && f.JSON {
		return usagef("--json needs a file, since - writes the data itself to standard output")
	}
	return nil
}

// exported is the result of export and codes export.
type exported struct {
	noun  string // of Count, in the singular
	File  string `json:"file"`
	Count int    `json:"count"`
}

func (e exported) String() string {
	return fmt.Sprintf("exported %s to %s", count(e.Count, e.noun), e.File)
}

// export writes a file with write, which returns how many lines it wrote, and
// prints the result.
func (f *OutputFile) export(streams Streams, noun string, write func(io.Writer) (int, error)) error {
	lines := 0
	fill := func(w io.Writer) (err error) {
		lines, err = write(w)
		return err
	}
	if f.File == "-" {
		if err := fill(streams.Out); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		return nil
	}
	if err := outputPath(f.File).replace(fill); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return f.print(streams, exported{noun, f.File, lines})
}

// Export writes all resources as NDJSON, or as CSV.
type Export struct {
	OutputFile
	Format  string   `enum:"ndjson,csv" default:"ndjson" help:"Format: ndjson, or csv, which writes a folder with a CSV file for each type of resource that has columns, and other.ndjson for the rest."`
	Only    []string `placeholder:"KIND" help:"Export the resources of this type only; can be repeated. With --format csv it writes one type to FILE."`
	Clients bool     `aliases:"with-clients" help:"Include API clients, with the hashes of their secrets."`
	StoreFlags
}

// Help is the long description.
func (*Export) Help() string {
	return "Importing the file into an empty database recreates the shop. It has no signing keys, gateway passwords or published releases. " +
		"The file gets permissions 0600. " +
		jsonHelp(exported{"", "shop.ndjson", 1234})
}

// Validate checks what the parser cannot.
func (c *Export) Validate() error {
	for _, kind := range c.Only {
		if !slices.Contains(exchange.KindNames(), kind) {
			return usagef("--only must be one of %s, got %q", strings.Join(exchange.KindNames(), ", "), kind)
		}
		if c.Format == "csv" && !slices.Contains(sheet.Kinds(), kind) {
			return usagef("--only must be one of %s with --format csv, got %q", strings.Join(sheet.Kinds(), ", "), kind)
		}
	}
	if c.Format == "csv" && len(c.Only) > 1 {
		return usagef("--only can be used once with --format csv, since a CSV file holds one type")
	}
	if c.Format == "csv" && len(c.Only) == 0 && c.File == "-" {
		return usagef("--format csv needs a folder, or --only KIND for standard output")
	}
	return errors.Join(c.OutputFile.Validate(), c.StoreFlags.Validate())
}

// Run exports.
func (c *Export) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	options := exchange.ExportOptions{WithClients: c.Clients, Only: c.Only}
	switch {
	case c.Format == "ndjson":
		return c.export(streams, "resource", func(w io.Writer) (int, error) { return s.Exchange.Export(ctx, w, options) })
	case len(c.Only) == 1:
		return c.export(streams, "row", func(w io.Writer) (int, error) { return s.Exchange.ExportSheet(ctx, w, c.Only[0]) })
	}
	rows, err := c.exportFolder(func(create func(string) (io.WriteCloser, error)) (int, error) {
		return s.Exchange.ExportSheets(ctx, create, options)
	})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return c.print(streams, exported{"row", c.File, rows})
}

// exportFolder fills a folder that is new or empty. If it fails, it removes what it has written.
func (c *Export) exportFolder(fill func(create func(kind string) (io.WriteCloser, error)) (int, error)) (rows int, err error) {
	if err := os.MkdirAll(c.File, 0o700); err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(c.File)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("the folder %s is not empty; name a new one", c.File)
	}
	if err != nil {
		return 0, err
	}
	var names []string
	defer func() {
		if err != nil {
			for _, name := range names {
				_ = os.Remove(name)
			}
		}
	}()
	return fill(func(kind string) (io.WriteCloser, error) {
		name := filepath.Join(c.File, "other.ndjson")
		if kind != "" {
			name = filepath.Join(c.File, kind+".csv")
		}
		names = append(names, name)
		return outputPath(name).create()
	})
}
