package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"portico/internal/cli/input"
	"portico/internal/remote"
	"portico/store"
	"portico/store/exchange"
	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
	"portico/store/shop"
)

// Import reads NDJSON and CSV into the database and publishes the catalogs.
type Import struct {
	Files     []string `arg:"" optional:"" name:"file" help:"NDJSON files, one resource per line, or CSV files with a header, also compressed with gzip, or folders of *.ndjson, *.csv, *.ndjson.gz and *.csv.gz; - is standard input. Files may refer to each other."`
	Lenient   bool     `help:"Ignore resources of unknown types, and unknown members, instead of rejecting the file."`
	DryRun    bool     `help:"Check everything, and print which resources would be created and which members would change. Nothing is written."`
	Strict    bool     `help:"Treat warnings as errors: if there is any, nothing is written."`
	Report    string   `placeholder:"FILE" help:"Write every error and warning to FILE: as CSV if its name ends in .csv, else as NDJSON."`
	Merge     bool     `help:"Change only the members that a line has: null clears one, objects are merged, lists are replaced. A resource that does not exist must be complete."`
	Replace   []string `placeholder:"KIND" help:"Delete the resources of this type that the files do not hold; can be repeated. Prints how many first, and needs --yes, or an answer on a terminal, for more than a tenth of them or all."`
	Yes       bool     `help:"Delete what --replace finds without asking."`
	Skip      []string `placeholder:"KIND" help:"Leave the lines of this type alone; can be repeated."`
	NoPublish bool     `help:"Do not publish the catalogs."`
	Publish   bool     `help:"Publish all catalogs, including those that were rolled back."`
	Stock     bool     `help:"Overwrite existing stock records, and add new lines to their ledgers. Existing lines of a ledger never change."`
	Settings  bool     `help:"Overwrite existing settings."`
	Generate  uint32   `placeholder:"N" default:"0" help:"Instead of reading files, generate a sample shop with N products."`
	Seed      uint64   `placeholder:"N" default:"1" help:"Seed for --generate. The same seed generates the same shop."`
	FromFlags
	LineBytes int `hidden:"" placeholder:"BYTES" default:"67108864" help:"Maximum length of a line. 0 means the default."`
	Output
	StoreFlags
}

const importActor store.Actor = "command:import"

// Help is the long description.
func (*Import) Help() string {
	return "The command checks all lines first. If one is invalid, it prints the file, line and member of each error, and writes nothing. " +
		"It warns of likely mistakes, such as a price for an unknown SKU, and imports the lines all the same, unless --strict is set. " +
		"A line {\"type\": \"product\", \"id\": \"mug\", \"deleted\": true} deletes a resource. " +
		"Importing a file again changes nothing. An import that was interrupted can be run again.\n\n" +
		"Existing stock records and settings stay, because the service itself changes them, unless --stock or --settings is set. " +
		"Shoppers see the old releases until the new ones are published. A catalog that was rolled back stays at its release, unless --publish is set.\n\n" +
		"A row of a CSV file changes only the members that the file has columns for, as with --merge. " +
		"The format of NDJSON files: portico schema --import.\n\n" +
		"With --from, the command reads the shop of another server into a folder, imports it, and removes the folder. " +
		"If it is interrupted, run it again: it continues. At the end it lists what the server does not show, with --json in not_told: " +
		"[{\"what\": \"promotions of a type that Portico does not have\", \"count\": 3}]. " +
		jsonHelp(importResult{Resources: map[string]int{"product": 25}, Changed: 25, Deleted: map[string]int{"node": 1}, Warnings: 1, Kept: map[string]int{"stock": 3}, Skipped: map[string]int{}, Ignored: map[string]int{},
			Published: publications{{"catalog-coffee", 1, 24, statePublished}}}) + "\n\nWith --json and --dry-run, before and after are null where a member is absent:\n\n    " + jsonExample(importPlan{Created: map[string]int{"file": 1}, Updated: map[string]int{"product": 1}, Unchanged: map[string]int{"product": 24}, Deleted: map[string]int{}, Kept: map[string]int{}, Skipped: map[string]int{},
		Changes: []plannedChange{{"shop.ndjson", 3, "product", "prod-latte", false, false, []store.MemberChange{{Path: []string{"attributes", "name"}, Before: json.RawMessage(`"Latte"`), After: json.RawMessage(`"Caffè Latte"`)}}}}})
}

// Validate checks the input.
func (c *Import) Validate() error {
	switch {
	case len(c.Files) == 0 && c.Generate == 0 && c.From == "":
		return usagef("name a file to import, - for standard input, or use --from or --generate")
	case c.From != "" && len(c.Files)+int(c.Generate) > 0:
		return usagef("--from excludes files and --generate. Use one of them")
	case c.LineBytes < 0:
		return usagef("--line-bytes must be 1 or more, or 0 for the default")
	case c.Publish && c.NoPublish:
		return usagef("--publish and --no-publish exclude each other. Use one of them")
	case len(c.Files) > 0 && c.Generate > 0:
		return usagef("--generate and files exclude each other. Use one of them")
	}
	for _, name := range c.Replace {
		switch {
		case !slices.Contains(check.DeletableKinds(), name):
			return usagef("--replace must be one of %s, got %q", strings.Join(check.DeletableKinds(), ", "), name)
		case slices.Contains(c.Skip, name):
			return usagef("--replace %s and --skip %[1]s exclude each other. Use one of them", name)
		}
	}
	for _, name := range c.Skip {
		if !slices.Contains(exchange.KindNames(), name) {
			return usagef("--skip must be one of %s, got %q", strings.Join(exchange.KindNames(), ", "), name)
		}
	}
	if c.Report != "" {
		if err := outputPath(c.Report).check(); err != nil {
			return err
		}
		for _, name := range c.Files {
			if sameFile(name, c.Report) || sameFile(name, filepath.Dir(c.Report)) {
				return usagef("--report %s would be imported, or replace what is imported. Name a file elsewhere", c.Report)
			}
		}
	}
	if err := c.FromFlags.check(); err != nil {
		return err
	}
	if i := slices.Index(c.Files, "-"); i >= 0 && slices.Contains(c.Files[i+1:], "-") {
		return usagef("- can be used once only, since standard input can be read once")
	}
	return c.StoreFlags.Validate()
}

// importResult is the result of import.
type importResult struct {
	Resources map[string]int `json:"resources"` // read, by type
	Changed   int            `json:"changed"`
	Deleted   map[string]int `json:"deleted"` // by type
	Warnings  int            `json:"warnings"`
	Kept      map[string]int `json:"kept"`               // existing ones that were not overwritten, by type
	Skipped   map[string]int `json:"skipped"`            // lines of --skip, by type
	Ignored   map[string]int `json:"ignored"`            // with --lenient, by type, or by type and member
	Currency  *string        `json:"currency,omitempty"` // that the shop took over from its first prices
	Published publications   `json:"published"`
	NotTold   []remote.Gap   `json:"not_told,omitempty"` // with --from: what the server does not show
}

// errUnwritten is within the error of an import that has written nothing, and adds no words to it.
var errUnwritten = errors.New("")

// Run imports, then publishes.
func (c *Import) Run(ctx context.Context, streams Streams) (err error) {
	written := c.From != "" // the shop that was read, to a folder
	defer func() {
		if err != nil && !written {
			err = fmt.Errorf("%w%w", err, errUnwritten)
		}
	}()
	if c.From != "" {
		if err := c.checkDatabase(ctx, streams); err != nil {
			return err
		}
	}
	in, err := c.input(ctx, streams)
	if err != nil {
		return err
	}
	defer in.Close()
	if c.DryRun {
		return c.plan(ctx, streams, in)
	}
	s, err := c.Open(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	if err := c.readSheets(ctx, streams, s, in); err != nil {
		return err
	}
	bar := newProgressBar(streams.Err, "importing", in.Size(), 2) // one pass to check, one to write
	var report *exchange.ImportReport
	err = c.reportFindings(in, func(w *findingWriter) (err error) {
		options := c.options(in, bar, w)
		options.Confirm = func(list []exchange.Replacement) error { return confirmReplace(ctx, streams, list, c.Yes, c.Files) }
		report, err = s.Exchange.Import(ctx, importActor, in.Open, options)
		written = written || report != nil
		return err
	})
	bar.end()
	if invalid := new(exchange.ImportErrors); errors.As(err, &invalid) {
		return explainFetched(in, printImportErrors(streams.Err, invalid, in, c.Report))
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	printIgnored(streams.Err, report, in)
	printWarnings(streams.Err, report, in, c.Report, true)
	c.printLine(streams, importSummary(report))
	for _, summary := range []string{countSummary("deleted", report.Deleted), keptSummary(report), countSummary("skipped", report.Left)} {
		if summary != "" {
			c.printLine(streams, summary)
		}
	}
	if report.Resources["promotion"] > 0 {
		if ignored, err := s.Promotions.WarnOfIgnored(ctx); err == nil && ignored != nil { // an error cannot undo the import
			fmt.Fprintln(streams.Err, "warning: "+ignored.Error())
		}
	}
	result := importResult{Resources: report.Resources, Changed: report.Changed, Deleted: report.Deleted, Warnings: report.WarningCount, Kept: withoutZeros(report.Skipped), Skipped: report.Left, Ignored: report.IgnoredCount, Currency: report.Currency, Published: publications{}}
	switch {
	case c.NoPublish:
	case sum(report.Resources)+sum(report.Deleted) == 0 && !c.Publish: // an interrupted import may have left half a shop
		c.printLine(streams, "nothing was published, since nothing was imported")
	default:
		p := &publisher{Output: c.Output, store: s, actor: importActor, streams: streams, evenIfHeld: c.Publish}
		if result.Published, err = p.publish(ctx, nil); err != nil {
			return err
		}
	}
	result.NotTold = printGaps(c.Output, streams, in)
	if err := removeFetched(in); err != nil {
		return err
	}
	return c.printJSON(streams, result)
}

// checkDatabase opens the database once, before a fetch that may take hours.
func (c *Import) checkDatabase(ctx context.Context, streams Streams) error {
	open := c.Open
	if c.DryRun {
		open = c.OpenToRead
	}
	s, err := open(ctx, c.Log(streams))
	switch {
	case c.DryRun && errors.Is(err, shop.ErrNoShop): // openToPlan says so
		return nil
	case err != nil:
		return err
	}
	return s.Close()
}

// options returns the options of an import or its plan. w gets what it finds; nil
// for none.
func (c *Import) options(in input.Source, bar *progressBar, w *findingWriter) exchange.ImportOptions {
	options := exchange.ImportOptions{Lenient: c.Lenient, Strict: c.Strict, Stock: c.Stock, Settings: c.Settings, Merge: c.Merge, Replace: store.Unique(c.Replace), Skip: c.Skip, LineBytes: c.LineBytes, Progress: bar.add, Found: w.found(in)}
	if in.HasSheets() {
		options.Row = in.Row
	}
	return options
}

// readSheets converts the CSV files of the import, and prints what is odd about
// them.
func (c *Import) readSheets(ctx context.Context, streams Streams, s *shop.Store, in input.Source) error {
	reader := &sheet.Reader{Lenient: c.Lenient, IDs: func(ctx context.Context, keys []sheet.Key) (map[sheet.Key]string, error) {
		return s.Exchange.SheetIDs(ctx, keys)
	}}
	notes, err := in.ReadSheets(ctx, reader)
	for _, note := range notes {
		fmt.Fprintln(streams.Err, note)
	}
	return err
}

// input opens what the flags name: another server, a generated shop, or files.
func (c *Import) input(ctx context.Context, streams Streams) (input.Source, error) {
	if c.From != "" {
		return c.fetch(ctx, streams)
	}
	if c.Generate > 0 {
		return &input.Generated{Products: int(c.Generate), Seed: c.Seed}, nil
	}
	return input.OpenFiles(ctx, c.Files, streams.In)
}

// printImportErrors prints each error as FILE:LINE: MESSAGE, and returns their
// sum.
func printImportErrors(w io.Writer, invalid *exchange.ImportErrors, in input.Source, report string) error {
	for _, fault := range invalid.Errors {
		fmt.Fprintln(w, newFinding(fault, "error", in))
	}
	printMore(w, invalid.Count-len(invalid.Errors), report)
	found := count(invalid.Count, "error")
	if r := invalid.Report; r != nil && r.WarningCount > 0 {
		printWarnings(w, r, in, report, false)
		found += " and " + count(r.WarningCount, "warning")
	}
	return fmt.Errorf("%s. Nothing was imported", found)
}

// printWarnings prints the warnings that the report holds, those of one kind after
// each other and then how many more of it there are. The kinds come in the order
// of their first warning. Then come the number of further kinds' warnings, where
// all of them are (file is that of --report), and their number if the lines were accepted.
func printWarnings(w io.Writer, report *exchange.ImportReport, in input.Source, file string, accepted bool) {
	left := report.WarningCount // of kinds that were not printed
	for i, first := range report.Warnings {
		kind := first.Kind()
		ofKind := func(e check.ImportError) bool { return e.Kind() == kind }
		if slices.ContainsFunc(report.Warnings[:i], ofKind) {
			continue
		}
		shown := 0
		for _, warning := range report.Warnings[i:] {
			if ofKind(warning) {
				fmt.Fprintln(w, newFinding(warning, "warning", in))
				shown++
			}
		}
		if more := report.WarningKinds[kind] - shown; more > 0 {
			fmt.Fprintf(w, "and %d more of this kind\n", more)
		}
		left -= report.WarningKinds[kind]
	}
	if left > 0 {
		fmt.Fprintf(w, "and %d more of other kinds\n", left)
	}
	switch hidden := report.WarningCount > len(report.Warnings); {
	case hidden && file == "":
		fmt.Fprintln(w, "--report FILE writes all of them")
	case hidden:
		fmt.Fprintf(w, "all of them are in %s\n", file)
	}
	if report.WarningCount > 0 && accepted {
		fmt.Fprintf(w, "%s. With --strict nothing would have been imported\n", count(report.WarningCount, "warning"))
	}
}

// printMore prints how many findings were not printed, and where they are.
func printMore(w io.Writer, more int, report string) {
	switch {
	case more > 0 && report == "":
		fmt.Fprintf(w, "and %d more: --report FILE writes all of them\n", more)
	case more > 0:
		fmt.Fprintf(w, "and %d more in %s\n", more, report)
	}
}

// printIgnored prints what a lenient import ignored: a line for each of the
// first, then the number of each kind.
func printIgnored(w io.Writer, report *exchange.ImportReport, in input.Source) {
	total := sum(report.IgnoredCount)
	if total == 0 {
		return
	}
	for _, ignored := range report.Ignored {
		file, line := in.Position(ignored.Line)
		fmt.Fprintf(w, "%s:%d: ignored: %s: %s\n", file, line, ignored.Type, ignored.Err)
	}
	if more := total - len(report.Ignored); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	fmt.Fprintf(w, "ignored %d: %s\n", total, joinCounts(report.IgnoredCount))
}

// importSummary is "imported 3 resources, 1 change: 1 file, 2 product", and a line about the currency if it changed.
func importSummary(report *exchange.ImportReport) string {
	total := sum(report.Resources)
	text := fmt.Sprintf("imported %s, %s", count(total, "resource"), count(report.Changed, "change"))
	if total > 0 {
		text += ": " + joinCounts(report.Resources)
	}
	if report.Currency != nil {
		text += "\nset the currency of the shop to " + *report.Currency + ", the only one of its prices"
	}
	return text
}

// keptSummary is "kept existing: 2 stock, 1 settings; overwrite them with
// --stock and --settings"; empty for none.
func keptSummary(report *exchange.ImportReport) string {
	var flags []string
	for _, kind := range slices.Sorted(maps.Keys(report.Skipped)) {
		if report.Skipped[kind] > 0 {
			flag, _, _ := strings.Cut(kind, "_") // stock and stock_transaction share one
			flags = append(flags, "--"+flag)
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return "kept existing: " + joinCounts(report.Skipped) + "; overwrite them with " + strings.Join(store.Unique(flags), " and ")
}

// countSummary is "deleted 2: 1 file, 1 product"; empty for none.
func countSummary(verb string, counts map[string]int) string {
	if sum(counts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d: %s", verb, sum(counts), joinCounts(counts))
}

// withoutZeros deletes the counts that are 0 from the map, and returns it.
func withoutZeros(counts map[string]int) map[string]int {
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return counts
}

// joinCounts is "1 file, 2 product".
func joinCounts(counts map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			list = append(list, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return strings.Join(list, ", ")
}
