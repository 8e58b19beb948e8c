package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/exchange"
	"portico/store/storetest"
)

// TestImportMerge checks which members of a stored line a merge changes.
func TestImportMerge(t *testing.T) {
	t.Parallel()
	const locales = `"locales":{"de":{"name":"Tasse","description":"Blau"},"fr":{"name":"Tasse"}}`
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, db := backend.Open(t), backend.SQL(t)
		for _, c := range []struct {
			name, stored string
			lines        []string
			changes      []string // as the plan prints them
		}{
			{"a text", product("mug", `,"description":"x"`, ``), []string{`{"type":"product","id":"mug","attributes":{"name":"B"}}`},
				[]string{`attributes.name:"A"->"B"`}},
			{"nothing", product("mug", `,"description":"x"`, ``), []string{`{"type":"product","id":"mug"}`, `{"type":"product","id":"mug","attributes":{"name":"A"},"relationships":null}`}, nil},
			{"null clears a member", product("mug", `,"description":"x","tags":["a"]`, ``), []string{`{"id":"mug","attributes":{"description":null},"type":"product"}`},
				[]string{`attributes.description:"x"->`}},
			{"a member of an open object", product("mug", ","+locales, ``), []string{`{"type":"product","id":"mug","attributes":{"locales":{"de":{"description":null},"it":{"name":"Tazza","description":null}}}}`},
				[]string{`attributes.locales.de.description:"Blau"->`, `attributes.locales.it.name:->"Tazza"`}},
			{"an open object is cleared", product("mug", ","+locales, ``), []string{`{"type":"product","id":"mug","attributes":{"locales":{"de":null}}}`},
				[]string{`attributes.locales.de.description:"Blau"->`, `attributes.locales.de.name:"Tasse"->`}},
			{"free members", product("mug", `,"extensions":{"a":{"x":1,"y":[1,2]}}`, ``), []string{`{"type":"product","id":"mug","attributes":{"extensions":{"a":{"y":[3]},"b":{}}}}`},
				[]string{`attributes.extensions.a.y:[1,2]->[3]`, `attributes.extensions.b:->{}`}},
			{"a list is replaced", product("mug", `,"tags":["a","b"]`, ``), []string{`{"type":"product","id":"mug","attributes":{"tags":["c"]}}`},
				[]string{`attributes.tags:["a","b"]->["c"]`}},
			{"several lines of a resource", product("mug", ``, ``), []string{`{"type":"product","id":"mug","attributes":{"name":"B"}}`, `{"type":"product","id":"mug","attributes":{"tags":["c"]}}`},
				[]string{`attributes.name:"A"->"B"`, `attributes.tags:->["c"]`}},
			{"another form of a number", product("mug", `,"components":{"c":{"name":"C","min":1,"max":2,"sort_order":1,"options":[{"id":"x","type":"product","quantity":1}]}}`, ``),
				[]string{`{"type":"product","id":"mug","attributes":{"components":{"c":{"min":1.0}}}}`}, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				storetest.Import(t, s, c.stored)
				options := exchange.ImportOptions{Merge: true, Lenient: false}
				text := storetest.JoinLines(c.lines...)
				changes, _ := planned(t, s, text, options)
				got := strings.Join(changes, "\n")
				for _, change := range c.changes {
					require.Contains(t, got, " "+change)
				}
				updated := 0
				if len(c.changes) > 0 {
					updated = 1
					require.Contains(t, got, ` attributes.updated_at:"2026-01-01T00:00:00.000Z"->`)
				}
				require.Equal(t, len(c.changes)+updated, strings.Count(got, "->"), got)

				report, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(text), options)
				require.NoError(t, err)
				require.Equal(t, updated, min(report.Changed, 1))
				after := storetest.Export(t, s)
				changes, _ = planned(t, s, text, options)
				require.Empty(t, changes, "a second time")
				require.Equal(t, after, storetest.Export(t, s))
			})
		}
		t.Run("a later updated_at", func(t *testing.T) {
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, product("mug", ``, ``))
			changes, _ := planned(t, s, `{"type":"product","id":"mug","attributes":{"name":"B","updated_at":"2031-01-01T00:00:00Z"}}`, exchange.ImportOptions{Merge: true})
			require.Contains(t, changes[0], `updated_at:"2026-01-01T00:00:00.000Z"->"2031-01-01T00:00:00.000Z"`)
		})
		t.Run("a new resource must be complete", func(t *testing.T) {
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"product","id":"new","attributes":{"name":"B"}}`), exchange.ImportOptions{Merge: true})
			require.Equal(t, []string{"1 attributes.sku is required", `1 attributes.status is required`}, errorTexts(t, err))
		})
		t.Run("a cleared member that is required", func(t *testing.T) {
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"product","id":"mug","attributes":{"name":null}}`), exchange.ImportOptions{Merge: true})
			require.Equal(t, []string{"1 attributes.name is required"}, errorTexts(t, err))
		})
		t.Run("warnings of the merged resource", func(t *testing.T) {
			storetest.DeleteAllRows(t, db)
			storetest.Import(t, s, product("mug", ``, ``))
			report := storetest.ImportWithOptions(t, s, "\n"+`{"type":"product","id":"mug","attributes":{"name":"B","name":"C"},"relationships":{"main_image":{"data":{"type":"file","id":"none"}}}}`,
				func(o *exchange.ImportOptions) { o.Merge = true })
			require.Equal(t, 2, report.WarningCount, "%v", report.Warnings)
			require.Equal(t, []int{2, 2}, []int{report.Warnings[0].Line, report.Warnings[1].Line})
			require.Contains(t, report.Warnings[0].Error(), "twice")
		})
		t.Run("invalid lines", func(t *testing.T) {
			_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source("{\n[]\n{\"type\":\"product\",\"id\":7}\n"), exchange.ImportOptions{Merge: true})
			require.Len(t, storetest.ImportErrors(t, err), 3, "%v", err)
		})
	})
}

// errorTexts returns the errors of a failed import: line, member and message.
func errorTexts(t *testing.T, err error) (texts []string) {
	t.Helper()
	for _, fault := range storetest.ImportErrors(t, err) {
		texts = append(texts, fmt.Sprintf("%d %s %s", fault.Line, strings.Join(fault.Err.Path, "."), fault.Err.Detail))
	}
	return texts
}

// TestMergeChangesOnlyTheMembersOfTheLine draws parts of the lines of a shop. Merging the part of a
// changed line gives the stored line with just that part changed, for each type.
func TestMergeChangesOnlyTheMembersOfTheLine(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		options := exchange.ImportOptions{Merge: true, Stock: true, Settings: true, Skip: []string{"stock_transaction"}} // its lines never change
		lines := strings.Split(strings.TrimSpace(storetest.Export(t, s)), "\n")
		rapid.Check(t, func(t *rapid.T) {
			line := rapid.SampledFrom(lines).Draw(t, "line")
			var whole map[string]any
			require.NoError(t, decodeExactly(line, &whole))
			part := drawPart(t, json.RawMessage(line))
			for _, key := range []string{"type", "id", "slug"} {
				if value, has := whole[key]; has && key != "slug" || whole["type"] == "gateway" && has {
					part[key] = value
				}
			}
			sent := store.Encode(part) // without escapes that lines do not have
			report, err := s.Exchange.Import(context.Background(), storetest.Actor, storetest.Source(string(sent)), options)
			require.NoError(t, err, "%s", sent)
			require.Zero(t, report.Changed, "a part of the stored line changes nothing: %s", sent)

			name, isText := whole["name"].(string)
			path := map[string]any{"name": name + "+"}
			if attributes, has := whole["attributes"].(map[string]any); has {
				name, isText = attributes["name"].(string)
				path = map[string]any{"attributes": map[string]any{"name": name + "+"}}
			}
			if !isText {
				return
			}
			for _, key := range []string{"type", "id"} {
				path[key] = whole[key]
			}
			if whole["type"] == "gateway" {
				delete(path, "id")
				path["slug"] = whole["slug"]
			}
			sent = store.Encode(path)
			_, err = s.Exchange.Import(context.Background(), storetest.Actor, storetest.Source(string(sent)), options)
			require.NoError(t, err, "%s", sent)
			var after map[string]any
			for _, other := range strings.Split(strings.TrimSpace(storetest.Export(t, s)), "\n") {
				if sameKey(t, other, whole) {
					require.NoError(t, decodeExactly(other, &after))
				}
			}
			withName(whole, name+"+")
			withoutUpdate(whole)
			withoutUpdate(after)
			require.True(t, reflect.DeepEqual(whole, after), "%v is not %v", after, whole)
			storetest.Import(t, s, line)
		})
	})
}

// decodeExactly decodes a line with its numbers as they are spelled.
func decodeExactly(line string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// drawPart draws some members of an object, also of those within. Their values are spelled as in the line.
func drawPart(t *rapid.T, object json.RawMessage) map[string]any {
	var whole map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &whole))
	part := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		switch rapid.IntRange(0, 2).Draw(t, name) {
		case 0:
			part[name] = whole[name]
		case 1:
			if whole[name][0] == '{' {
				part[name] = drawPart(t, whole[name])
			}
		}
	}
	return part
}

func sameKey(t *rapid.T, line string, whole map[string]any) bool {
	var other map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &other))
	return other["type"] == whole["type"] && other["id"] == whole["id"] && (whole["type"] != "gateway" || other["slug"] == whole["slug"])
}

func withName(line map[string]any, name string) {
	if attributes, has := line["attributes"].(map[string]any); has {
		attributes["name"] = name
		return
	}
	line["name"] = name
}

// withoutUpdate removes the time of the last change, which a merge sets.
func withoutUpdate(line map[string]any) {
	delete(line, "updated_at")
	if attributes, has := line["attributes"].(map[string]any); has {
		delete(attributes, "updated_at")
	}
}
