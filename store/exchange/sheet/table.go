// Package sheet reads and writes resources as sheets: CSV files with a header, one type of
// resource each. Reader turns rows into import lines that hold only the members of the
// columns; Writer turns the lines of an export into rows. It may import store
// and store/catalog, for the members of products.
package sheet

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"portico/store/catalog"
)

// A table is the sheet form of a type of resource.
type table struct {
	kind    string
	signs   []string // columns by which a sheet of it is known, all of which it needs
	columns []column
}

// A column holds a member. A colon in its name stands before keys: name:fr is the name in French.
type column struct {
	name string
	path []string // of the member; * is the key, and $price and $sale are replaced by the row's
	cell cell
	link string // type of what a link leads to; empty without links
}

// cell is how a value is written in a cell.
type cell int

const (
	textCell      cell = iota
	wordCell           // a text without spaces around it, unless store.EscapeFormula wrote it
	numberCell         // JSON's numbers
	amountCell         // whole minor units
	booleanCell        // true or false
	listCell           // texts: separated by |, or a JSON array
	oneOrMoreCell      // a text, or a list of any other number of texts
	linkCell           // the id of one resource
	linksCell          // ids as list, or a JSON array of links
	objectCell         // JSON
	valueCell          // an attribute of one's own; its column may name the type: attribute:weight:number
)

// isText reports whether cells hold texts, which must not look like formulas.
func (c cell) isText() bool {
	return c != numberCell && c != amountCell && c != booleanCell && c != objectCell
}

// attribute is a column of a member of attributes.
func attribute(name string, c cell) column {
	return column{name: name, path: []string{"attributes", name}, cell: c}
}

// top is a column of a member of the line itself.
func top(name string, c cell) column { return column{name: name, path: []string{name}, cell: c} }

// at is a column of a member at a path with dots.
func at(name, path string, c cell) column {
	return column{name: name, path: strings.Split(path, "."), cell: c}
}

// linkTo is a column of a relationship to resources of a type.
func linkTo(name, kind string, c cell) column {
	return column{name: name, path: []string{"relationships", name, "data"}, cell: c, link: kind}
}

// tables are tried in order, so that of products is last: sheets of prices have a sku too. Columns without a path are read with
// others, such as currency for $price.
var tables = []table{
	{"product-price", []string{"pricebook", "sku", "currency"}, []column{
		top("id", textCell), linkTo("pricebook", "pricebook", linkCell), attribute("sku", wordCell), {name: "currency"}, {name: "sale"},
		at("valid_from", "$sale.schedule.valid_from", wordCell), at("valid_to", "$sale.schedule.valid_to", wordCell),
		at("amount", "$price.amount", amountCell), at("includes_tax", "$price.includes_tax", booleanCell),
		at("tier:*:minimum_quantity", "$price.tiers.*.minimum_quantity", numberCell), at("tier:*:amount", "$price.tiers.*.amount", amountCell),
	}},
	{"stock", []string{"available"}, []column{
		top("id", textCell), {name: "sku"}, top("available", numberCell), top("allocated", numberCell), top("total", numberCell), top("created_at", wordCell), top("updated_at", wordCell),
	}},
	{"promotion_code", []string{"promotion_id", "code"}, []column{
		top("id", textCell), top("promotion_id", wordCell), top("code", wordCell), top("max_uses", numberCell), top("uses", numberCell), top("used", numberCell),
		top("consume_unit", wordCell), top("user", oneOrMoreCell), top("created_at", wordCell),
	}},
	{"attribute", []string{"attribute_type"}, []column{
		top("id", textCell), attribute("label", textCell), at("label:*", "attributes.labels.*", textCell), attribute("attribute_type", wordCell), attribute("unit", textCell),
		attribute("filterable", booleanCell), attribute("searchable", booleanCell), attribute("sortable", booleanCell),
	}},
	{"node", []string{"hierarchy"}, []column{
		top("id", textCell), linkTo("hierarchy", "hierarchy", linkCell), linkTo("parent", "node", linkCell), attribute("name", textCell), attribute("slug", textCell), attribute("description", textCell),
		linkTo("main_image", "file", linkCell), linkTo("products", "product", linksCell), attribute("curated_products", listCell), attribute("position", numberCell), attribute("created_at", wordCell), attribute("updated_at", wordCell),
		at("seo.title", "attributes.seo.title", textCell), at("seo.description", "attributes.seo.description", textCell),
		at("name:*", "attributes.locales.*.name", textCell), at("description:*", "attributes.locales.*.description", textCell),
		at("seo.title:*", "attributes.locales.*.seo.title", textCell), at("seo.description:*", "attributes.locales.*.seo.description", textCell),
		at("attribute:*", "attributes.custom_attributes.*", valueCell),
	}},
	{"file", []string{"file_name"}, []column{
		top("id", textCell), top("file_name", textCell), at("href", "link.href", textCell), top("mime_type", textCell), top("public", booleanCell),
		at("created_at", "meta.timestamps.created_at", wordCell), at("width", "meta.dimensions.width", numberCell), at("height", "meta.dimensions.height", numberCell),
	}},
	{"synonym", []string{"terms"}, []column{
		top("id", textCell), attribute("kind", wordCell), attribute("locale", wordCell), attribute("term", textCell), attribute("terms", listCell),
	}},
	{"redirect", []string{"from"}, []column{
		top("id", textCell), attribute("from", textCell), attribute("to", textCell),
		at("target_type", "relationships.target.data.type", wordCell), at("target", "relationships.target.data.id", textCell),
	}},
	{"product", []string{"sku"}, slices.Concat([]column{
		top("id", textCell), attribute("sku", wordCell), attribute("name", textCell), attribute("slug", textCell), attribute("status", wordCell),
	}, productTexts(), []column{
		attribute("tags", listCell), attribute("product_types", listCell), attribute("base_product", booleanCell), attribute("base_product_id", textCell),
		linkTo("parent", "product", linkCell), attribute("options", listCell), attribute("price_modifiers", listCell),
		linkTo("main_image", "main_image", linkCell), linkTo("files", "file", linksCell), linkTo("component_products", "product", linksCell),
		at("seo.title", "attributes.seo.title", textCell), at("seo.description", "attributes.seo.description", textCell),
		at("name:*", "attributes.locales.*.name", textCell), at("description:*", "attributes.locales.*.description", textCell),
		at("seo.title:*", "attributes.locales.*.seo.title", textCell), at("seo.description:*", "attributes.locales.*.seo.description", textCell),
		at("attribute:*", "attributes.custom_attributes.*", valueCell), at("related:*", "relationships.related.*", listCell),
		attribute("variations", objectCell), attribute("components", objectCell), attribute("custom_inputs", objectCell), attribute("extensions", objectCell), attribute("shopper_attributes", objectCell),
		attribute("created_at", wordCell), attribute("updated_at", wordCell),
	})},
}

// productTexts returns the columns of the texts that catalog.ProductTextMembers lists: add one there.
func productTexts() (columns []column) {
	for _, m := range catalog.ProductTextMembers {
		columns = append(columns, attribute(m.Name, textCell))
	}
	return columns
}

// NeededColumns says by which columns a sheet of each type is known.
const NeededColumns = "products need the column sku, prices pricebook, sku, currency and amount, stock available, codes promotion_id and code, attributes attribute_type, nodes hierarchy, files file_name, synonyms terms, redirects from"

// Kinds returns the types of resources that have a sheet.
func Kinds() (names []string) {
	for _, t := range tables {
		names = append(names, t.kind)
	}
	slices.Sort(names)
	return names
}

// tableByKind returns the table of a type; nil if it has none.
func tableByKind(kind string) *table {
	for i := range tables {
		if tables[i].kind == kind {
			return &tables[i]
		}
	}
	return nil
}

// find returns the column that a header names, with the key in it. A key may have colons. The last part of the header of an
// attribute is its type, if it is one.
func (t *table) find(header string) (c column, ok bool) {
	for _, c := range t.columns {
		before, after, keyed := strings.Cut(c.name, "*")
		if !keyed && c.name == header {
			return c, true
		}
		key, begins := strings.CutPrefix(header, before)
		key, ends := strings.CutSuffix(key, after)
		if !keyed || !begins || !ends {
			continue
		}
		if c.cell == valueCell {
			c.cell = textCell
			if colon := strings.LastIndexByte(key, ':'); colon >= 0 {
				c.cell, ok = valueTypes[key[colon+1:]]
				if !ok {
					return c, false
				}
				key = key[:colon]
			}
		}
		c.path = replaced(c.path, "*", key)
		return c, key != ""
	}
	return c, false
}

// valueTypes are the types that a column of an attribute can name.
var valueTypes = map[string]cell{"text": textCell, "date": textCell, "number": numberCell, "boolean": booleanCell, "list": listCell}

// replaced returns a path with one part replaced by others.
func replaced(path []string, part string, by ...string) []string {
	i := slices.Index(path, part)
	if i < 0 {
		return path
	}
	return slices.Concat(path[:i], by, path[i+1:])
}

// similar is "; did you mean NAME?" with the column whose name is closest to another text, or empty if none is close.
func (t *table) similar(text string) string {
	distance := func(c column) int { return levenshtein.ComputeDistance(c.name, text) }
	closest := slices.MinFunc(t.columns, func(a, b column) int { return distance(a) - distance(b) })
	if distance(closest) > 1+len(text)/4 {
		return ""
	}
	return "; did you mean " + closest.name + "?"
}

// columnOf returns the name of the column that holds the member at a path of an import line, or a part of it; empty if none does. The
// price in a currency as a whole has the column currency. The place in a column of JSON follows: variations[0].options[1].
func (t *table) columnOf(path []string) string {
	if t.kind == "product-price" {
		if path = rowPath(path); len(path) == 1 && path[0] == "$price" {
			return "currency"
		}
	}
	for _, c := range t.columns {
		if key, holds := c.holds(path); holds {
			name := strings.Replace(c.name, "*", key, 1)
			if c.cell == objectCell { // a member of attributes
				name = listPosition.ReplaceAllString(strings.Join(path[1:], "."), "[$1]")
			}
			return name
		}
	}
	return ""
}

var listPosition = regexp.MustCompile(`\.(\d+)\b`)

// rowPath returns the path of a member of a price in the row that holds it.
func rowPath(path []string) []string {
	if len(path) > 2 && path[0] == "attributes" && path[1] == "sales" {
		path = append([]string{"$sale"}, path[3:]...)
	}
	if len(path) > 2 && path[1] == "currencies" {
		return append([]string{"$price"}, path[3:]...)
	}
	return path
}

// holds reports whether the column holds a member, or what it is part of, and the key of a column with keys.
func (c column) holds(path []string) (key string, ok bool) {
	for i, name := range c.path {
		switch {
		case i == len(path): // an object of which the column is a part; attributes and relationships alone have no column
			return key, i > 1 && (key != "" || !slices.Contains(c.path, "*"))
		case name == "*":
			key = path[i]
		case name != path[i]:
			return "", false
		}
	}
	return key, len(c.path) > 0
}

// names lists the columns, for errors.
func (t *table) names() string {
	var names []string
	for _, c := range t.columns {
		names = append(names, strings.ReplaceAll(c.name, "*", "KEY"))
	}
	return strings.Join(names, ", ")
}
