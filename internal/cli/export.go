package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"portico/store/exchange"
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
	noun  string
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
	if err := f.replace(fill); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return f.print(streams, exported{noun, f.File, lines})
}

// replace replaces the file atomically. It writes directly to a device or a
// pipe.
func (f *OutputFile) replace(fill func(io.Writer) error) error {
	path, err := filepath.EvalSymlinks(f.File)
	if err != nil { // a new file
		path = f.File
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeFile(path, os.O_WRONLY, fill)
	}
	return atomicWrite(path, os.Rename, func(temporary string) error {
		return writeFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fill)
	})
}

// writeFile opens a file, fills it, and syncs it if it is new.
func writeFile(path string, flags int, fill func(io.Writer) error) error {
	file, err := os.OpenFile(path, flags, 0o600) // promotion codes are worth money
	if err != nil {
		return err
	}
	err = fill(file)
	if err == nil && flags&os.O_CREATE != 0 {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}

// Export writes all resources as NDJSON.
type Export struct {
	OutputFile
	Clients bool `aliases:"with-clients" help:"Include API clients, with the hashes of their secrets."`
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
	return errors.Join(c.OutputFile.Validate(), c.StoreFlags.Validate())
}

// Run exports.
func (c *Export) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	return c.export(streams, "resource", func(w io.Writer) (int, error) {
		return s.Export(ctx, w, exchange.ExportOptions{WithClients: c.Clients})
	})
}
