// Package limits bounds the work of a GraphQL request: the size of its document, its estimated cost and
// the size of its response. Config has the limits, CostEstimator estimates an operation's cost. The
// package must not import other packages of graph.
package limits

import (
	"fmt"
	"reflect"
	"strconv"
)

// Config has the limits of a document, its variables and its response. Most are checked before
// validation, whose time can grow with the square of a document's size; Cost before anything runs;
// Values and Nesting before the request is decoded. Each is a flag with a default; 0 is the default too.
type Config struct {
	Bytes         int `name:"document-bytes" placeholder:"BYTES" default:"262144" help:"Maximum size of a GraphQL document."`
	Tokens        int `name:"document-tokens" placeholder:"N" default:"15000" help:"Maximum number of tokens in a GraphQL document."`
	Depth         int `name:"document-depth" placeholder:"N" default:"20" help:"Maximum depth of nested fields in a GraphQL document."`
	Name          int `name:"document-name" placeholder:"BYTES" default:"96" help:"Maximum length of a name or an alias in a GraphQL document. Responses and errors repeat them."`
	Fields        int `name:"document-fields" placeholder:"N" default:"5000" help:"Maximum number of fields in a GraphQL document, with those of a fragment for every spread."`
	RootFields    int `name:"document-root-fields" placeholder:"N" default:"500" help:"Maximum number of fields at the root of a GraphQL operation."`
	Aliases       int `name:"document-aliases" placeholder:"N" default:"500" help:"Maximum number of fields and aliases in one object of a GraphQL response."`
	Repeats       int `name:"document-repeats" placeholder:"N" default:"100000" help:"Limit for repeated selections of the same field of a GraphQL response: the sum of the squares of how often each is selected."`
	Operations    int `name:"document-operations" placeholder:"N" default:"100" help:"Maximum number of operations in a GraphQL document."`
	Fragments     int `name:"document-fragments" placeholder:"N" default:"500" help:"Maximum number of fragments in a GraphQL document."`
	Variables     int `name:"document-variables" placeholder:"N" default:"250" help:"Maximum number of variables in a GraphQL document."`
	Directives    int `name:"document-directives" placeholder:"N" default:"500" help:"Maximum number of directives in a GraphQL document."`
	Steps         int `name:"document-steps" placeholder:"N" default:"50000" help:"Maximum number of selections and values that validation reads in a GraphQL document, with those of a fragment each time it is reached."`
	Cost          int `name:"document-cost" placeholder:"N" default:"60000" help:"Maximum estimated cost of a GraphQL operation: 1 for a plain field of a row, more for fields that read from the database. Each unit takes at most 1 KB of memory."`
	ResponseBytes int `name:"document-response-bytes" placeholder:"BYTES" default:"8388608" help:"Maximum size of a response, over GraphQL and REST. The request fails as soon as its response is larger."`
	Values        int `name:"request-values" placeholder:"N" default:"200000" help:"Maximum number of values in the JSON of a GraphQL request, at all depths."`
	Nesting       int `name:"request-nesting" placeholder:"N" default:"500" help:"Maximum depth of lists and objects in the JSON of a GraphQL request."`
}

// Defaults returns the default of each limit. They are large enough for storefronts, code generators and
// imports of codes.
func Defaults() Config { return Config{}.OrDefaults() }

// OrDefaults returns the limits with each 0 replaced by its default.
func (c Config) OrDefaults() Config {
	for field, value := range reflect.ValueOf(&c).Elem().Fields() {
		if value.IsZero() {
			n, _ := strconv.ParseInt(field.Tag.Get("default"), 10, 64)
			value.SetInt(n)
		}
	}
	return c
}

// Validate rejects negative limits.
func (c Config) Validate() error {
	for field, value := range reflect.ValueOf(c).Fields() {
		if value.Int() < 0 {
			return fmt.Errorf("--%s must be at least 0, got %d. 0 selects the default, %s", field.Tag.Get("name"), value.Int(), field.Tag.Get("default"))
		}
	}
	return nil
}

// MaxErrors is how many errors a response has at most.
const MaxErrors = 20

// LargeResponse is the size in bytes from which a response counts as expensive, so that few such
// responses are in memory at the same time.
const LargeResponse = 1 << 20
