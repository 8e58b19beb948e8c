package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"portico/store/exchange"
)

// Export writes everything that is authored as NDJSON.
type Export struct {
	File    string `arg:"" help:"The file to write; - is standard output. It is replaced once the export is whole, so never half-written."`
	Clients bool   `aliases:"with-clients" help:"Write API clients too, with the hashes of their secrets. Default: no."`
	Common
}

// Help is the long description.
func (*Export) Help() string {
	return "Import of the file into an empty store makes the same store again. Keys, gateway secrets and what is published are not in it. The file is readable by its owner only."
}

// Run exports.
func (c *Export) Run(ctx context.Context, streams Streams) error {
	log := c.Log(streams)
	s, err := c.OpenExisting(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	options := exchange.ExportOptions{WithClients: c.Clients}
	if c.File == "-" {
		_, err := s.Export(ctx, streams.Out, options)
		return wrapExport(err)
	}
	var lines int
	if err := c.replace(func(to io.Writer) error {
		lines, err = s.Export(ctx, to, options)
		return err
	}); err != nil {
		return wrapExport(err)
	}
	fmt.Fprintf(streams.Out, "exported %s to %s\n", count(lines, "resource"), c.File)
	return nil
}

func wrapExport(err error) error {
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// replace has a file written beside the wanted one, and takes its place when
// it is whole and on the disk. A device or a pipe is written to as it is.
func (c *Export) replace(write func(io.Writer) error) error {
	path, err := filepath.EvalSymlinks(c.File)
	if err != nil { // a new file
		path = c.File
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, os.O_WRONLY, write)
	}
	return beside(path, os.Rename, func(temporary string) error {
		return writeInto(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, write)
	})
}

func writeInto(path string, how int, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, how, 0o600) // promotion codes are as good as money
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	if how&os.O_CREATE != 0 {
		if err := file.Sync(); err != nil {
			file.Close()
			return err
		}
	}
	return file.Close()
}
