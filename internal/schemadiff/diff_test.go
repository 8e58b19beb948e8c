package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

const made = `
interface Thing { id: ID! }
type Chair implements Thing { id: ID! name: String legs: [Int!] }
type Table implements Thing { id: ID! }
union Furniture = Chair | Table
enum Wood { OAK BIRCH }
input Filter { wood: Wood text: String! size: Int! = 2 }
type Query { chair(id: ID!, wood: Wood): Chair! chairs(filter: Filter, first: Int! = 5): [Chair]! }
`

func TestBreakingChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		was, now string // replaced in the schema
		want     []string
	}{
		{"nothing", "", "", nil},
		{"a new type", "enum Wood", "type New { a: Int } enum Wood", nil},
		{"a new value", "OAK BIRCH", "OAK BIRCH PINE", nil},
		{"a new field", "name: String", "name: String age(of: Int!): Int", nil},
		{"a new argument", "wood: Wood): Chair", "wood: Wood, age: Int, legs: Int! = 4): Chair", nil},
		{"an answer that is never null any more", "name: String", "name: String!", nil},
		{"an argument that may be left out", "(id: ID!, wood", "(id: ID, wood", nil},
		{"a member that may be left out", "text: String!", "text: String", nil},
		{"a description", "enum Wood", `"Of a tree." enum Wood`, nil},
		{"a type goes", "type Table implements Thing { id: ID! }\nunion Furniture = Chair | Table", "union Furniture = Chair",
			[]string{"Table is no longer a member of Furniture", "Table was removed"}},
		{"another kind", "enum Wood { OAK BIRCH }", "scalar Wood", []string{"Wood changed from ENUM to SCALAR"}},
		{"a field goes", "name: String ", "", []string{"Chair.name was removed"}},
		{"a value goes", "OAK BIRCH", "OAK", []string{"Wood.BIRCH was removed"}},
		{"an interface goes", "Table implements Thing", "Table", []string{"Table no longer implements Thing"}},
		{"another type", "name: String", "name: Int", []string{"Chair.name changed from String to Int"}},
		{"a list of it", "name: String", "name: [String]", []string{"Chair.name changed from String to [String]"}},
		{"an answer that may be null", "Chair!", "Chair", []string{"Query.chair changed from Chair! to Chair"}},
		{"in a list", "[Int!]", "[Int]", []string{"Chair.legs changed from [Int!] to [Int]"}},
		{"an argument goes", ", wood: Wood): Chair", "): Chair", []string{"Query.chair(wood:) was removed"}},
		{"an argument that must be sent", "wood: Wood): Chair", "wood: Wood!): Chair", []string{"Query.chair(wood:) changed from Wood to Wood!"}},
		{"a new one that must", "wood: Wood): Chair", "wood: Wood, age: Int!): Chair", []string{"Query.chair(age:) is new and required"}},
		{"a new member that must", "wood: Wood text", "wood: Wood age: Int! text", []string{"Filter.age is new and required"}},
		{"an argument without its default", "first: Int! = 5", "first: Int!", []string{"Query.chairs(first:) has no default any more, so it is required"}},
		{"a member without its default", "size: Int! = 2", "size: Int!", []string{"Filter.size has no default any more, so it is required"}},
		{"another default", "size: Int! = 2", "size: Int! = 3", nil},
		{"a member without its default that may be left out", "size: Int! = 2", "size: Int", nil},
		{"a member of another type", "text: String!", "text: ID!", []string{"Filter.text changed from String! to ID!"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, made, c.was)
			before, now := load(t, made), load(t, strings.Replace(made, c.was, c.now, 1))
			require.ElementsMatch(t, c.want, breaking(before, now))
		})
	}
}

func load(t *testing.T, text string) *ast.Schema {
	t.Helper()
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: text})
	require.NoError(t, err)
	return schema
}

func TestReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	found, err := report(&out, "v1", made, strings.Replace(made, "OAK BIRCH", "OAK", 1))
	require.NoError(t, err)
	require.Equal(t, 1, found)
	require.Equal(t, "Breaking schema changes since v1: 1\n  Wood.BIRCH was removed\n", out.String())
	own, err := os.ReadFile("../../" + file)
	require.NoError(t, err)
	out.Reset()
	found, err = report(&out, "v1", string(own), string(own))
	require.NoError(t, err)
	require.Zero(t, found)
	require.Equal(t, "No breaking schema changes since v1.\n", out.String())
}
