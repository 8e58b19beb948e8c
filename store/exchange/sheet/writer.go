package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"portico/store"
)

// Write writes the resources of a type, in the order in which each calls do with their import
// lines, as a sheet with the columns that any of them needs, and returns the number of rows. Without
// resources it writes nothing. It runs each twice. A price has a row for each currency, and for each of its sales; a sale without
// amounts has a row without a currency. Texts that look like formulas begin with an apostrophe. It fails for a type that has no sheet, and for
// a member that no column holds.
func Write(to io.Writer, kind string, each func(do func(line []byte) error) error) (rows int, err error) {
	t := tableByKind(kind)
	if t == nil {
		return 0, fmt.Errorf("a sheet of %s is not possible; the types that have one are %s", kind, strings.Join(Kinds(), ", "))
	}
	w := &sheetWriter{table: t, used: map[string]column{}}
	for _, sign := range t.signs {
		w.used[sign], _ = t.find(sign)
	}
	some := false
	collect := func(line []byte) error { // the columns, in w.used
		some = true
		_, err := w.rows(line)
		return err
	}
	if err := each(collect); err != nil || !some {
		return 0, err
	}
	header := slices.SortedFunc(maps.Keys(w.used), w.compare)
	out := csv.NewWriter(to)
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = store.EscapeFormula(name)
	}
	if err := out.Write(names); err != nil {
		return 0, err
	}
	err = each(func(line []byte) error {
		found, err := w.rows(line)
		for _, cells := range found {
			record := make([]string, len(header))
			for i, name := range header {
				record[i] = cells[name]
				if w.used[name].cell.isText() {
					record[i] = store.EscapeFormula(record[i])
				}
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
		rows += len(found)
		return err
	})
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return rows, err
}

// sheetWriter finds the cells of resources.
type sheetWriter struct {
	table *table
	used  map[string]column // columns with a cell that is not empty, by name
	line  []byte            // at hand, for objects in their own order
}

// compare orders columns as the table does, and those with keys by their keys.
func (w *sheetWriter) compare(a, b string) int {
	place := func(name string) int {
		return slices.IndexFunc(w.table.columns, func(c column) bool {
			base, rest, keyed := strings.Cut(c.name, "*")
			return c.name == name || keyed && strings.HasPrefix(name, base) && strings.HasSuffix(name, rest)
		})
	}
	if pa, pb := place(a), place(b); pa != pb {
		return pa - pb
	}
	return strings.Compare(a, b)
}

// rows returns the cells of a resource by column, a row for each price, and adds their columns to used. It takes every member
// out of the resource, and returns an error for one that is left.
func (w *sheetWriter) rows(line []byte) (rows []map[string]string, err error) {
	reader := json.NewDecoder(bytes.NewReader(line))
	reader.UseNumber()
	var resource map[string]any
	if err := reader.Decode(&resource); err != nil {
		return nil, err
	}
	delete(resource, "type")
	w.line = line
	id := resource["id"]
	if w.table.kind != "product-price" {
		cells := map[string]string{}
		w.take(resource, nil, cells)
		rows = append(rows, cells)
	} else {
		rows = w.prices(resource)
	}
	left := prune(resource)
	for _, cells := range rows {
		for name, content := range cells {
			if _, used := w.used[name]; used || content == "" {
				continue
			}
			c, known := w.table.find(name)
			w.used[name] = c
			if !known {
				left = name
			}
		}
	}
	if left != "" {
		return nil, fmt.Errorf("the member %s of the %s %s fits into no column", left, w.table.kind, id)
	}
	return rows, nil
}

// prices returns a row for each currency, and for each of the sales. It takes what it has out of the resource.
func (w *sheetWriter) prices(resource map[string]any) (rows []map[string]string) {
	shared := map[string]string{}
	w.take(resource, nil, shared)
	add := func(sale string, prices any, schedule map[string]any) {
		currencies, _ := prices.(map[string]any)
		names := slices.Sorted(maps.Keys(currencies))
		if sale != "" && len(names) == 0 {
			names = []string{""}
		}
		for _, currency := range names {
			cells := maps.Clone(shared)
			cells["currency"], cells["sale"] = currency, sale
			price, _ := currencies[currency].(map[string]any)
			w.take(price, []string{"$price"}, cells)
			w.take(map[string]any{"schedule": maps.Clone(schedule)}, []string{"$sale"}, cells)
			rows = append(rows, cells)
		}
	}
	add("", member(resource, []string{"attributes", "currencies"}), nil)
	sales, _ := member(resource, []string{"attributes", "sales"}).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(sales)) {
		sale, _ := sales[name].(map[string]any)
		schedule, _ := sale["schedule"].(map[string]any)
		add(name, sale["currencies"], schedule)
		delete(sale, "schedule")
	}
	return rows
}

// take moves members of a resource into cells. With a prefix, $price or $sale, resource is what that stands for, and only columns
// whose path begins with it are filled.
func (w *sheetWriter) take(resource map[string]any, prefix []string, cells map[string]string) {
	for _, c := range w.table.columns {
		if len(c.path) <= len(prefix) || !slices.Equal(c.path[:len(prefix)], prefix) || len(prefix) == 0 && c.path[0][0] == '$' {
			continue
		}
		path := c.path[len(prefix):]
		star := slices.Index(path, "*")
		if star < 0 {
			switch value := taken(resource, path); {
			case value == nil:
			case c.cell == objectCell:
				cells[c.name] = string(rawMember(w.line, c.path)) // in its own order
			default:
				cells[c.name] = c.format(value)
			}
			continue
		}
		keyed, _ := member(resource, path[:star]).(map[string]any)
		for key := range keyed {
			if value := taken(resource, replaced(path, "*", key)); value != nil {
				cells[w.keyedName(c, key, value)] = c.cellOf(value).format(value)
			}
		}
	}
}

// keyedName is the name of a column for a key, with the type if the value is no text.
func (w *sheetWriter) keyedName(c column, key string, v any) string {
	name := strings.Replace(c.name, "*", key, 1)
	if c.cell != valueCell {
		return name
	}
	switch v.(type) {
	case json.Number:
		name += ":number"
	case bool:
		name += ":boolean"
	case []any:
		name += ":list"
	}
	return name
}

// cellOf returns the column with the form that a value has, for attributes of one's own.
func (c column) cellOf(v any) column {
	if _, is := v.([]any); is && c.cell == valueCell {
		c.cell = listCell
	}
	return c
}

// member returns a member by its path; nil if it is absent.
func member(resource map[string]any, path []string) any {
	var value any = resource
	for _, name := range path {
		object, is := value.(map[string]any)
		if !is {
			return nil
		}
		value = object[name]
	}
	return value
}

// rawMember returns the text of a member.
func rawMember(line []byte, path []string) json.RawMessage {
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(line, &object) != nil {
			return nil
		}
		line = object[name]
	}
	return line
}

// taken removes a member and returns it.
func taken(resource map[string]any, path []string) any {
	object, is := member(resource, path[:len(path)-1]).(map[string]any)
	if !is {
		return nil
	}
	name := path[len(path)-1]
	value := object[name]
	delete(object, name)
	return value
}

// prune returns the path of a member that is left; empty if only empty objects are.
func prune(value any) string {
	object, is := value.(map[string]any)
	if !is {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch below := object[name].(type) {
		case nil:
		case map[string]any:
			if left := prune(below); left != "" {
				return name + "." + left
			}
		default:
			return name
		}
	}
	return ""
}
