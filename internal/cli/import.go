package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/exchange"
)

// Import reads NDJSON into the store and publishes the catalogs.
type Import struct {
	Files     []string `arg:"" optional:"" name:"file" help:"NDJSON files, a resource a line; - is standard input. Several are checked together, and may refer to each other."`
	Lenient   bool     `help:"Pass over resources of unknown types and unknown members, instead of refusing them; what was passed over is told, and is no failure. Default: no."`
	Generate  uint32   `placeholder:"PRODUCTS" default:"0" help:"Import a made-up shop of so many products instead of files; 0 is none. Default: ${default}."`
	Seed      uint64   `placeholder:"N" default:"1" help:"With --generate: the same number makes the same shop. Default: ${default}."`
	Stock     bool     `help:"Write stock records, and lines of their ledger, over those of the store. Default: create those that the store does not have, leave the others and count them."`
	Settings  bool     `help:"Write the settings over those of the store. Default: set them in a store that nobody has set them in, else leave them."`
	LineBytes int      `placeholder:"BYTES" default:"67108864" help:"How many bytes a line may have; a longer one is a fault, and is not held in memory. 0 is the default. Default: ${default}, which is 64 MiB."`
	NoPublish bool     `help:"Leave the catalogs as they were published before. Default: publish all that no roll-back holds."`
	Publish   bool     `help:"Publish all catalogs, those that a roll-back holds too. Default: leave those at the release they serve."`
	Common
}

// importActor is who writes.
const importActor store.Actor = "command:import"

// Help is the long description.
func (*Import) Help() string {
	return "Every line is checked before any is written: a fault is told by file, line and member, and nothing is written then. " +
		"Stock records and settings that the store has stay as they are, unless --stock or --settings is given: the service changes them itself. " +
		"Importing the same again changes nothing, and an import that was killed is finished by running it again. " +
		"With --lenient, what is passed over is told on standard error by file, line and member, the first 20 one by one and all by their number, and the exit code is 0 as without any. " +
		"Readers keep what was published before until the end. " +
		"A catalog that was rolled back stays at its release, and the summary says so, unless --publish is given."
}

// Validate checks what is to be read.
func (c *Import) Validate() error {
	switch {
	case len(c.Files) == 0 && c.Generate == 0:
		return usage("name a file to import, - for standard input, or use --generate")
	case c.LineBytes < 0:
		return usage("--line-bytes must be 1 or more; 0 is the default")
	case c.Publish && c.NoPublish:
		return usage("--publish and --no-publish exclude each other; use one of them")
	case len(c.Files) > 0 && c.Generate > 0:
		return usage("--generate stands in the place of files; use one of them")
	}
	count := 0
	for _, name := range c.Files {
		if name == "-" {
			count++
		}
	}
	if count > 1 {
		return usage("- can be named once, since standard input can be read once")
	}
	return c.Common.Validate()
}

// Run imports, then publishes.
func (c *Import) Run(ctx context.Context, streams Streams) error {
	in, err := c.input(ctx, streams.In)
	if err != nil {
		return err
	}
	defer in.close()
	log := c.Log(streams)
	s, err := c.Open(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	// Twice as a rule: once to check, once to write.
	bar := newMeter(streams.Err, "importing", in.size(), 2)
	report, err := s.Import(ctx, importActor, in.open, exchange.ImportOptions{Lenient: c.Lenient, Stock: c.Stock, Settings: c.Settings, LineBytes: c.LineBytes, Progress: bar.add})
	bar.end()
	if faulty := new(exchange.ImportFaults); errors.As(err, &faulty) {
		return tellFaults(streams.Err, faulty, in)
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	tellPassed(streams.Err, report, in)
	fmt.Fprintln(streams.Out, summary(report))
	if left := leftAlone(report); left != "" {
		fmt.Fprintln(streams.Out, left)
	}
	if c.NoPublish {
		return nil
	}
	return publish(ctx, s, importActor, nil, streams, c.Publish)
}

func (c *Import) input(ctx context.Context, stdin io.Reader) (input, error) {
	if c.Generate > 0 {
		return &generated{products: int(c.Generate), seed: c.Seed}, nil
	}
	return newFileInput(ctx, c.Files, stdin)
}

// tellFaults writes a line for each fault, as compilers do, and sums up.
func tellFaults(w io.Writer, faulty *exchange.ImportFaults, in input) error {
	for _, fault := range faulty.Faults {
		file, line := in.place(fault.Line)
		kind := ""
		if fault.Type != "" {
			kind = fault.Type + ": "
		}
		fmt.Fprintf(w, "%s:%d: %s%s\n", file, line, kind, fault.Err)
	}
	if more := faulty.Count - len(faulty.Faults); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	return fmt.Errorf("%s, and nothing was imported", count(faulty.Count, "fault"))
}

// tellPassed writes what a lenient import passed over: a line for each of the
// first, then how many there are of each kind.
func tellPassed(w io.Writer, report *exchange.ImportReport, in input) {
	total, names := 0, []string{}
	for _, name := range slices.Sorted(maps.Keys(report.PassedCount)) {
		total += report.PassedCount[name]
		names = append(names, fmt.Sprintf("%d %s", report.PassedCount[name], name))
	}
	if total == 0 {
		return
	}
	for _, passed := range report.Passed {
		file, line := in.place(passed.Line)
		fmt.Fprintf(w, "%s:%d: %s: %s It was passed over.\n", file, line, passed.Type, passed.Err)
	}
	if more := total - len(report.Passed); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	fmt.Fprintf(w, "passed over %s: %s\n", fmt.Sprintf("%d unknown", total), strings.Join(names, ", "))
}

// summary is "imported 3 resources, 1 change: 1 file, 2 product".
func summary(report *exchange.ImportReport) string {
	total, kinds := 0, []string{}
	for _, kind := range slices.Sorted(maps.Keys(report.Resources)) {
		total += report.Resources[kind]
		kinds = append(kinds, fmt.Sprintf("%d %s", report.Resources[kind], kind))
	}
	text := fmt.Sprintf("imported %s, %s", count(total, "resource"), count(report.Changed, "change"))
	if total > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	return text
}

// leftAlone is "left as the store has them: 2 stock, 1 settings; --stock and
// --settings overwrite them"; empty where nothing was left.
func leftAlone(report *exchange.ImportReport) string {
	var kinds, flags []string
	for _, kind := range slices.Sorted(maps.Keys(report.Left)) {
		if report.Left[kind] == 0 {
			continue
		}
		kinds = append(kinds, fmt.Sprintf("%d %s", report.Left[kind], kind))
		flag, _, _ := strings.Cut(kind, "_") // stock and its ledger have one
		flags = append(flags, "--"+flag)
	}
	if len(kinds) == 0 {
		return ""
	}
	return "left as the store has them: " + strings.Join(kinds, ", ") + "; overwrite them with " + strings.Join(store.Unique(flags), " and ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
