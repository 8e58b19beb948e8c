package sheet

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"portico/store"
)

// Key names a resource by what a row has in place of an id: a SKU, with the price book for a
// price, a code with its promotion, the path of a redirect, or the terms of a synonym.
type Key struct {
	Kind  string // product, product-price, price_modifier, promotion_code, redirect or synonym
	In    string // the price book, the promotion or the locale; empty for others
	Value string
}

// RedirectKey returns the key of the redirect of a path.
func RedirectKey(from string) Key { return Key{"redirect", "", strings.Trim(from, "/")} }

// SynonymKey returns the key of the synonym of a term, or of terms that find each other, in any order.
func SynonymKey(locale, term string, terms []string) Key {
	if term == "" && len(terms) > 0 {
		term = "=" + string(store.Encode(slices.Sorted(slices.Values(terms))))
	}
	return Key{"synonym", locale, term}
}

// Reader turns sheets into import lines. One Reader reads all sheets of an import, since a
// sheet of stock may name the SKUs of a sheet of products before it. It is for one goroutine.
type Reader struct {
	// IDs returns the ids of stored resources, and ids for new ones, for every key.
	IDs func(ctx context.Context, keys []Key) (map[Key]string, error)

	// Lenient skips columns that no table has.
	Lenient bool

	products map[Key]string // ids that sheets have given products, by SKU
}

// Rows is what a Reader found in a sheet. Lines are those of the sheet, from 1.
type Rows struct {
	Kind      string               // the type; empty if the header tells none
	Faults    map[int]store.Errors // what is wrong with a row; its import line is blank. Paths name columns
	Continued map[int]bool         // rows that add to the resource of an earlier row
	Ignored   []string             // columns that a lenient Reader skipped

	header []string // names of the columns, as tables have them
}

// Column returns the column that holds the member of an import line at a path, or what names the resource in place of its id;
// empty if none does.
func (r *Rows) Column(path []string) string {
	t := tableByKind(r.Kind)
	if t == nil {
		return ""
	}
	name := t.columnOf(path)
	if name == "id" && !slices.Contains(r.header, name) {
		name = keyColumn[r.Kind]
	}
	return name
}

// rowsAtOnce is the number of rows whose ids are looked up together.
const rowsAtOnce = 1000

// Read writes the import line of each row to out, in the line of out in which the row begins in
// the sheet. Fields are separated by commas, semicolons or tabs, whichever the header has. An
// empty cell clears its member. It returns the errors of in, out and IDs.
func (r *Reader) Read(ctx context.Context, in io.Reader, out io.Writer) (*Rows, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	s := &sheetReader{Reader: r, Rows: &Rows{Faults: map[int]store.Errors{}, Continued: map[int]bool{}}, out: bufio.NewWriterSize(out, 1<<16), line: 1, seen: map[string]int{}, schedules: map[string]saleTimes{}}
	for mark, _ := buffered.Peek(3); string(mark) == "\ufeff"; mark, _ = buffered.Peek(3) {
		_, _ = buffered.Discard(len(mark))
	}
	head, err := buffered.Peek(1 << 16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	comma, declared := separator(string(head))
	s.csv, s.declared = csv.NewReader(&lineEndKeeper{in: buffered, comma: byte(comma), start: true}), declared
	s.csv.FieldsPerRecord, s.csv.Comma = -1, comma
	s.oldLines = oldLineEnds(string(head))
	if r.products == nil {
		r.products = map[Key]string{}
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	for line := range s.Faults { // each has a line, also behind the last row
		s.pad(line + 1)
	}
	return s.Rows, s.out.Flush()
}

// pad writes blank lines, so that line is the next one.
func (s *sheetReader) pad(line int) {
	for ; s.line < line; s.line++ {
		s.out.WriteByte('\n') // Flush returns the error
	}
}

// separator returns what separates the fields of a header: what makes it that of a table, else what it has most of. declared is true if a
// line before it, such as sep=; declares that, as some spreadsheets do.
func separator(head string) (most rune, declared bool) {
	line, _, _ := strings.Cut(head, "\n")
	if value, found := strings.CutPrefix(strings.TrimRight(line, "\r"), "sep="); found && len(value) == 1 && strings.Contains(",;\t|", value) {
		return rune(value[0]), true
	}
	most = ','
	for _, candidate := range ",;\t|" {
		if findTable(columnNames(strings.Split(line, string(candidate)))) != nil {
			return candidate, false
		}
		if strings.Count(line, string(candidate)) > strings.Count(line, string(most)) {
			most = candidate
		}
	}
	return most, false
}

// oldLineEnds reports whether lines end with a carriage return alone.
func oldLineEnds(head string) bool {
	line, _, _ := strings.Cut(head, "\n")
	return strings.Contains(strings.TrimRight(line, "\r"), "\r")
}

// Recognized reports whether a file begins with the header of a sheet.
func Recognized(head string) bool {
	for strings.HasPrefix(head, "\ufeff") {
		head = strings.TrimPrefix(head, "\ufeff")
	}
	comma, declared := separator(head)
	if declared {
		_, head, _ = strings.Cut(head, "\n")
	}
	line, _, _ := strings.Cut(head, "\n")
	line, _, _ = strings.Cut(line, "\r")
	if strings.ContainsAny(line, "{[") { // NDJSON
		return false
	}
	header := csv.NewReader(strings.NewReader(line))
	header.Comma = comma
	fields, err := header.Read()
	return err == nil && findTable(columnNames(fields)) != nil
}

// columnNames returns the names of a header as tables have them. Keys after a colon stay as they are.
func columnNames(fields []string) (names []string) {
	for _, field := range fields {
		name, key, keyed := strings.Cut(trimmedText(field), ":")
		name = strings.ReplaceAll(strings.ToLower(name), " ", "_")
		if keyed {
			name += ":" + key
		}
		names = append(names, name)
	}
	return names
}

// findTable returns the first table all of whose signs a header has; nil for none.
func findTable(header []string) *table {
	for i := range tables {
		if !slices.ContainsFunc(tables[i].signs, func(sign string) bool { return !slices.Contains(header, sign) }) {
			return &tables[i]
		}
	}
	return nil
}

// sheetReader reads one sheet.
type sheetReader struct {
	*Reader
	*Rows
	csv     *csv.Reader
	out     *bufio.Writer
	line    int // of out, that is written next
	table   *table
	columns []column       // by field; without a path for those that a row uses otherwise, or skips
	seen    map[string]int // lines of prices, by id, book, SKU, currency and sale, and of their resources, by id, book and SKU

	declared  bool                 // the first line declares the separator
	oldLines  bool                 // lines end with a carriage return alone
	schedules map[string]saleTimes // of sales, by price book, SKU and sale
}

// saleTimes are the times of a sale, as the first row of it says.
type saleTimes struct {
	line     int // of that row
	from, to string
}

// row is a record of the sheet.
type row struct {
	line   int
	fields []string
}

// run reads the header and writes the lines of all rows, rowsAtOnce at a time. What is wrong with the sheet is in Faults.
func (s *sheetReader) run(ctx context.Context) error {
	if s.oldLines {
		s.fault(1, "", "The lines end with a carriage return alone; save the file as CSV UTF-8")
		return nil
	}
	if s.declared {
		if _, err := s.csv.Read(); err != nil {
			return err
		}
	}
	header, err := s.next()
	if err != nil || header == nil {
		return err
	}
	if !s.readHeader(header) {
		return nil
	}
	for {
		var rows []row
		for len(rows) < rowsAtOnce {
			next, err := s.next()
			if err != nil {
				return err
			}
			if next == nil {
				return s.write(ctx, rows)
			}
			if s.fits(next) {
				rows = append(rows, *next)
			}
		}
		if err := s.write(ctx, rows); err != nil {
			return err
		}
	}
}

// next returns the next record, nil at the end. It skips records that are no CSV, with a fault.
func (s *sheetReader) next() (*row, error) {
	for {
		fields, err := s.csv.Read()
		wrong := new(csv.ParseError)
		switch {
		case err == nil:
			line, _ := s.csv.FieldPos(0)
			return &row{line, fields}, nil
		case errors.Is(err, io.EOF):
			return nil, nil
		case !errors.As(err, &wrong):
			return nil, err
		}
		if errors.Is(wrong.Err, csv.ErrBareQuote) {
			s.fault(wrong.StartLine, "", "The row is not CSV: a field has a quote; put the whole field into quotes, and write the quote in it twice: \"19\"\" screen\"")
		} else {
			s.fault(wrong.StartLine, "", "The row is not CSV: a quote that begins a field does not end, or text follows it; write a quote in a field twice: \"19\"\" screen\"")
		}
	}
}

// fault adds what is wrong with a line. name is the column; empty for the whole line.
func (s *sheetReader) fault(line int, name, format string, values ...any) {
	var path []string
	if name != "" {
		path = []string{name}
	}
	s.Faults[line] = append(s.Faults[line], store.Invalidf(path, format, values...))
}

// readHeader finds the table and the column of each field. It returns false, with faults, for a header that cannot be used.
func (s *sheetReader) readHeader(header *row) bool {
	for len(header.fields) > 1 && strings.TrimSpace(header.fields[len(header.fields)-1]) == "" { // spreadsheets add empty ones
		header.fields = header.fields[:len(header.fields)-1]
	}
	s.header = columnNames(header.fields)
	s.table = findTable(s.header)
	if s.table == nil {
		s.fault(header.line, "", "The header tells no type of resource: %s", NeededColumns)
		return false
	}
	s.Kind = s.table.kind
	if s.Kind == "product-price" && !slices.Contains(s.header, "amount") {
		s.fault(header.line, "amount", "must be in the header of prices: whole minor units, 1250 for 12.50")
	}
	for i, name := range s.header {
		c, known := s.table.find(name)
		switch {
		case slices.Contains(s.header[:i], name):
			s.fault(header.line, name, "is in the header twice")
		case known:
		case s.Lenient:
			s.Ignored = append(s.Ignored, name)
		case name == "":
			s.fault(header.line, "", "The column %d has no name; name it, or delete it", i+1)
		default:
			s.fault(header.line, store.Abbreviate(name), "is no column of %s%s; --lenient skips it. The columns are %s", s.Kind, s.table.similar(name), s.table.names())
		}
		s.columns = append(s.columns, c)
	}
	return len(s.Faults) == 0
}

// fits reports whether a record is a row, and adjusts it to the header: it drops empty fields beyond that. Blank records and those
// with another form are none, the latter with a fault.
func (s *sheetReader) fits(r *row) bool {
	if !slices.ContainsFunc(r.fields, func(field string) bool { return strings.TrimSpace(field) != "" }) {
		return false
	}
	for len(r.fields) > len(s.header) && strings.TrimSpace(r.fields[len(r.fields)-1]) == "" {
		r.fields = r.fields[:len(r.fields)-1]
	}
	if len(r.fields) != len(s.header) {
		s.fault(r.line, "", "The row has %d fields and the header %d, separated by %q; put fields that have it into quotes", len(r.fields), len(s.header), s.csv.Comma)
		return false
	}
	for i, field := range r.fields {
		if !utf8.ValidString(field) {
			s.fault(r.line, s.header[i], "is not UTF-8; save the file as CSV UTF-8")
			return false
		}
	}
	return true
}

// field returns the trimmed field of a row by its column's name; empty if the sheet has none.
func (s *sheetReader) field(r row, name string) string {
	if i := slices.Index(s.header, name); i >= 0 {
		return trimmedText(r.fields[i])
	}
	return ""
}

// key returns what names a row's resource in place of an id.
func (s *sheetReader) key(r row) Key {
	switch s.Kind {
	case "product", "stock":
		return Key{"product", "", s.field(r, "sku")}
	case "product-price":
		return Key{s.Kind, s.field(r, "pricebook"), s.field(r, "sku")}
	case "promotion_code":
		return Key{s.Kind, s.field(r, "promotion_id"), s.field(r, "code")}
	case "redirect":
		return RedirectKey(s.field(r, "from"))
	case "synonym":
		terms, _ := parseList(s.field(r, "terms"))
		list, _ := terms.([]string)
		return SynonymKey(s.field(r, "locale"), s.field(r, "term"), list)
	default:
		return Key{}
	}
}

// write writes the lines of some rows. It looks up the ids of rows that have none, and remembers those of products for sheets
// after this one.
func (s *sheetReader) write(ctx context.Context, rows []row) error {
	var wanted []Key
	for _, r := range rows {
		key := s.key(r)
		if id := s.field(r, "id"); id != "" {
			if s.Kind == "product" && key.Value != "" {
				s.products[key] = id
			}
		} else if _, given := s.products[key]; !given && key.Value != "" {
			wanted = append(wanted, key)
		}
	}
	ids := map[Key]string{}
	if len(wanted) > 0 {
		var err error
		if ids, err = s.IDs(ctx, store.Unique(wanted)); err != nil {
			return err
		}
	}
	for _, r := range rows {
		line := s.convert(r, ids)
		if line == nil {
			continue
		}
		s.pad(r.line)
		s.out.Write(line)
		if err := s.out.WriteByte('\n'); err != nil {
			return err
		}
		s.line++
	}
	return ctx.Err()
}

// convert returns the import line of a row; nil if the row has a fault. Each column sets a member, and an empty cell clears it.
func (s *sheetReader) convert(r row, ids map[Key]string) []byte {
	price, sale := s.places(r)
	if s.Kind == "product-price" && !s.checkPrice(r) {
		return nil
	}
	resource := map[string]any{}
	for i, c := range s.columns {
		if c.path == nil {
			continue
		}
		content := r.fields[i]
		path := replaced(replaced(c.path, "$price", price...), "$sale", sale...)
		switch {
		case c.path[0] == "$price" && price == nil:
			if strings.TrimSpace(content) != "" {
				s.fault(r.line, s.header[i], "must be empty without a currency")
			}
		case c.path[0] == "$sale" && sale == nil:
			if strings.TrimSpace(content) != "" {
				s.fault(r.line, s.header[i], "must be empty without a sale")
			}
		case strings.TrimSpace(content) == "":
			clearMember(resource, path)
		default:
			value, problem := c.parse(content)
			if problem != "" {
				s.fault(r.line, s.header[i], "%s, got %q", problem, store.Abbreviate(content))
			}
			setMember(resource, path, value)
		}
	}
	if s.Kind == "product-price" && price != nil && s.field(r, "amount") == "" {
		setMember(resource, price, nil) // no price in this currency any more
	}
	s.identify(r, ids, resource)
	if len(s.Faults[r.line]) > 0 {
		return nil
	}
	return store.Encode(resource)
}

// keyColumn is the column that names the resource of a row without an id, by type.
var keyColumn = map[string]string{"product": "sku", "stock": "sku", "product-price": "sku", "promotion_code": "code", "redirect": "from", "synonym": "terms"}

// identify sets the type, the id and what follows from other fields: the kind of a synonym, and the total of a stock.
func (s *sheetReader) identify(r row, ids map[Key]string, resource map[string]any) {
	resource["type"] = s.Kind
	id, key := s.field(r, "id"), s.key(r)
	if id == "" {
		if id = s.products[key]; id == "" {
			id = ids[key]
		}
	}
	switch {
	case id != "":
		resource["id"] = id
	case key.Kind == "":
		s.fault(r.line, "id", "is required")
	default:
		s.fault(r.line, keyColumn[s.Kind], "is required where the row has no id")
	}
	if s.Kind == "synonym" && s.field(r, "kind") == "" {
		kind := "equivalent"
		if s.field(r, "term") != "" {
			kind = "one_way"
		}
		setMember(resource, []string{"attributes", "kind"}, kind)
	}
	if s.Kind == "stock" {
		if s.field(r, "available") == "" {
			s.fault(r.line, "available", "is required")
		}
		total(resource)
	}
}

// total completes a stock record: what is not allocated is available.
func total(resource map[string]any) {
	if resource["allocated"] == nil {
		resource["allocated"] = json.RawMessage("0")
	}
	available, err := store.ParseInteger(store.Encode(resource["available"]))
	allocated, other := store.ParseInteger(store.Encode(resource["allocated"]))
	if resource["total"] == nil && err == nil && other == nil {
		resource["total"] = available + allocated
	}
}

// places returns where the price of a row, and its sale if it is of one, are in the resource. A sale without amounts has no
// price.
func (s *sheetReader) places(r row) (price, sale []string) {
	of := []string{"attributes"}
	if name := s.field(r, "sale"); name != "" {
		sale = []string{"attributes", "sales", name}
		of = sale
	}
	if currency := s.field(r, "currency"); currency != "" {
		price = slices.Concat(of, []string{"currencies", currency})
	}
	return price, sale
}

// checkPrice reports whether a row of prices fits those before it, and records it. No earlier row may have its price: one in a currency,
// without a sale or in it. A sale must have the same times in all its rows. A further row of a resource is Continued.
func (s *sheetReader) checkPrice(r row) bool {
	if s.field(r, "currency") == "" && s.field(r, "sale") == "" {
		s.fault(r.line, "currency", "is required")
		return false
	}
	resource := fmt.Sprintf("%q %q %q", s.field(r, "id"), s.field(r, "pricebook"), s.field(r, "sku"))
	price := fmt.Sprintf("%s %q %q", resource, s.field(r, "currency"), s.field(r, "sale"))
	if earlier, twice := s.seen[price]; twice {
		s.fault(r.line, "", "The price of line %d is of the same price book, SKU, currency and sale; remove one of them", earlier)
		return false
	}
	if name := s.field(r, "sale"); name != "" {
		sale := fmt.Sprintf("%s %q", resource, name)
		own := saleTimes{r.line, s.field(r, "valid_from"), s.field(r, "valid_to")}
		if first, seen := s.schedules[sale]; !seen {
			s.schedules[sale] = own
		} else if first.from != own.from || first.to != own.to {
			s.fault(r.line, "sale", "has other times in line %d: from %q to %q; a sale has the same times in all rows of its price", first.line, first.from, first.to)
			return false
		}
	}
	_, s.Continued[r.line] = s.seen[resource]
	s.seen[resource], s.seen[price] = r.line, r.line
	return true
}

// setMember sets a member by its path.
func setMember(resource map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, is := resource[name].(map[string]any)
		if !is {
			next = map[string]any{}
			resource[name] = next
		}
		resource = next
	}
	resource[path[len(path)-1]] = value
}

// clearMember sets a member to null. A link is cleared whole.
func clearMember(resource map[string]any, path []string) {
	if path[0] == "relationships" && path[len(path)-1] == "data" {
		path = path[:len(path)-1]
	}
	setMember(resource, path, nil)
}
