package exchange

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/authoring"
	"portico/store/exchange/check"
)

var (
	importSection = regexp.MustCompile(`(?m)^## ([a-z_-]+)$`)
	importMember  = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)$")
	importLines   = regexp.MustCompile("(?ms)^```ndjson\n(.*?)^```")
)

// TestImportPageHasEveryMember of each resource type, and no other: in a row of
// its table in docs/import.md, and in its lines.
func TestImportPageHasEveryMember(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/import.md")
	require.NoError(t, err)
	page, sections := string(text), map[string]string{}
	found := importSection.FindAllStringSubmatchIndex(page, -1)
	for i, at := range found {
		end := len(page)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		sections[page[at[2]:at[3]]], _, _ = strings.Cut(page[at[1]:end], "| `promotion_type` | needed")
	}
	for _, kind := range check.Kinds {
		section := sections[kind.Name]
		lines := importLines.FindString(section)
		require.NotEmpty(t, lines, "docs/import.md has no lines of %s", kind.Name)
		rows := importMember.FindAllStringSubmatch(section, -1)
		members := sourceMembers("", reflect.TypeOf(kind.Create()))
		for _, member := range members {
			explained, elsewhere := hasMember(rows, member)
			require.True(t, explained, "the table of %s has no row for %s", kind.Name, member)
			name := member[strings.LastIndex(member, ".")+1:]
			optional := elsewhere || name == "*" || kind.Name == "hierarchy" && (name == "curated_products" || name == "position" || name == "custom_attributes") || kind.Name == "settings" && name == "id"
			require.True(t, optional || strings.Contains(lines, `"`+name+`":`), "no line of %s has %s", kind.Name, member)
		}
		for _, row := range rows {
			require.Contains(t, strings.Join(members, "\n")+"\n", row[1], "the table of %s", kind.Name)
		}
	}
}

// hasMember reports whether a table explains a member: in its own row, or in
// that of a link or of an object that is explained elsewhere.
func hasMember(rows [][]string, member string) (explained, elsewhere bool) {
	for _, row := range rows {
		if row[1] == member {
			return true, false
		}
		below := strings.HasPrefix(member, row[1]+".") || strings.HasPrefix(member, row[1]+"[")
		if below && (strings.Contains(row[2], "link") || strings.Contains(row[2], "as above") || strings.Contains(row[2], "as in [")) {
			return true, true
		}
	}
	return false, false
}

// sourceMembers lists the members of a source that have none below: elements of
// an array as [], keys of an object as *.
func sourceMembers(prefix string, shape reflect.Type) (members []string) {
	for shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	switch {
	case shape == reflect.TypeFor[authoring.LinkSource](), shape == reflect.TypeFor[authoring.LinksSource](),
		shape == reflect.TypeFor[json.RawMessage](), reflect.PointerTo(shape).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return []string{prefix}
	case shape.Kind() == reflect.Slice && shape.Elem().Kind() == reflect.Struct:
		return sourceMembers(prefix+"[]", shape.Elem())
	case shape.Kind() == reflect.Map:
		return sourceMembers(prefix+".*", shape.Elem())
	case shape.Kind() != reflect.Struct:
		return []string{prefix}
	}
	for _, field := range reflect.VisibleFields(shape) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && (name != "type" || prefix != "") {
			members = append(members, sourceMembers(strings.TrimPrefix(prefix+"."+name, "."), field.Type)...)
		}
	}
	return members
}
