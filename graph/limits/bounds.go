package limits

import (
	"fmt"
	"reflect"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// Bounds limit a document, its variables and its response. Most are checked before validation,
// which can be quadratic in the size of a document; Cost before anything runs; Values and Nesting
// before anything is decoded. Each is a flag; 0 selects its default.
type Bounds struct {
	Bytes       int `name:"document-bytes" placeholder:"BYTES" default:"262144" help:"Maximum size of a GraphQL document."`
	Tokens      int `name:"document-tokens" placeholder:"N" default:"15000" help:"Maximum number of tokens in a GraphQL document."`
	Depth       int `name:"document-depth" placeholder:"N" default:"20" help:"Maximum depth of nested fields in a GraphQL document."`
	Name        int `name:"document-name" placeholder:"BYTES" default:"96" help:"Maximum length of a name or an alias in a GraphQL document. Responses and errors repeat them."`
	Fields      int `name:"document-fields" placeholder:"N" default:"5000" help:"Maximum number of fields in a GraphQL document, with those of a fragment for every spread."`
	RootFields  int `name:"document-root-fields" placeholder:"N" default:"500" help:"Maximum number of fields at the root of a GraphQL operation."`
	Aliases     int `name:"document-aliases" placeholder:"N" default:"500" help:"Maximum number of fields and aliases in one object of a GraphQL response."`
	Repeats     int `name:"document-repeats" placeholder:"N" default:"100000" help:"Limit for repeated selections of the same field of a GraphQL response: the sum of the squares of how often each is selected."`
	Operations  int `name:"document-operations" placeholder:"N" default:"100" help:"Maximum number of operations in a GraphQL document."`
	Fragments   int `name:"document-fragments" placeholder:"N" default:"500" help:"Maximum number of fragments in a GraphQL document."`
	Variables   int `name:"document-variables" placeholder:"N" default:"250" help:"Maximum number of variables in a GraphQL document."`
	Directives  int `name:"document-directives" placeholder:"N" default:"500" help:"Maximum number of directives in a GraphQL document."`
	Steps       int `name:"document-steps" placeholder:"N" default:"50000" help:"Maximum number of selections and values that validation reads in a GraphQL document, with those of a fragment each time it is reached."`
	Cost        int `name:"document-cost" placeholder:"N" default:"60000" help:"Maximum estimated cost of a GraphQL operation: 1 for a plain field of a row, more for fields that read from the database. Each unit takes at most 1 KB of memory."`
	AnswerBytes int `name:"document-answer-bytes" placeholder:"BYTES" default:"8388608" help:"Maximum size of a response, over GraphQL and REST. The request fails as soon as its response is larger."`
	Values      int `name:"request-values" placeholder:"N" default:"200000" help:"Maximum number of values in the JSON of a GraphQL request, at all depths."`
	Nesting     int `name:"request-nesting" placeholder:"N" default:"500" help:"Maximum depth of lists and objects in the JSON of a GraphQL request."`
}

// DefaultBounds are large enough for storefronts, code generators and imports of codes.
func DefaultBounds() Bounds {
	return Bounds{
		Bytes:       256 << 10,
		Tokens:      15_000,
		Depth:       20,
		Name:        96,
		Fields:      5_000,
		RootFields:  500,
		Aliases:     500,
		Repeats:     100_000,
		Operations:  100,
		Fragments:   500,
		Variables:   250,
		Directives:  500,
		Steps:       50_000,
		Cost:        60_000,
		AnswerBytes: 8 << 20,
		Values:      200_000,
		Nesting:     500,
	}
}

// OrDefaults returns the bounds with each 0 replaced by its default.
func (b Bounds) OrDefaults() Bounds {
	defaults := reflect.ValueOf(DefaultBounds())
	for i, value := range reflect.ValueOf(&b).Elem().Fields() {
		if value.IsZero() {
			value.Set(defaults.FieldByIndex(i.Index))
		}
	}
	return b
}

// Validate rejects negative bounds.
func (b Bounds) Validate() error {
	for field, value := range reflect.ValueOf(b).Fields() {
		if value.Int() < 0 {
			return fmt.Errorf("--%s must be at least 1, got %d; 0 is the default", field.Tag.Get("name"), value.Int())
		}
	}
	return nil
}

// MaxErrors is how many errors a response has at most.
const MaxErrors = 20

// limit compares a count with one of the Bounds. message is a format with one %d for the count.
type limit struct {
	message    string
	count, max int
	hint       string
}

// describe returns the message of an exceeded limit, with something as its subject.
func (b limit) describe(something string) string {
	return fmt.Sprintf("%s %s; at most %d are allowed: %s.", something, fmt.Sprintf(b.message, b.count), b.max, b.hint)
}

// CheckText checks the source of a document before it is parsed.
func CheckText(query string, bounds Bounds) *gqlerror.Error {
	if err := (limit{"is %d bytes long", len(query), bounds.Bytes, "send values as variables"}).check(); err != nil {
		return err
	}
	return checkLiterals(query)
}

// TooManyTokens is the error for a document that the parser stopped reading at its token limit.
func TooManyTokens(bounds Bounds) *gqlerror.Error {
	return limit{"has %d tokens or more", bounds.Tokens + 1, bounds.Tokens, "send several operations, and values as variables"}.check()
}

// check returns an error if the count exceeds the limit.
func (b limit) check() *gqlerror.Error {
	if b.count <= b.max {
		return nil
	}
	return &gqlerror.Error{Message: b.describe("The document"), Extensions: map[string]any{"code": store.Unprocessable}}
}

// checkAll is the first refusal.
func checkAll(bounds ...limit) *gqlerror.Error {
	for _, b := range bounds {
		if fault := b.check(); fault != nil {
			return fault
		}
	}
	return nil
}

// LargeResponse is the size in bytes from which a response counts as expensive, so that few such
// responses are in memory at the same time.
const LargeResponse = 1 << 20

// ResponseTooLarge is the error for a response of more than max bytes.
func ResponseTooLarge(max int) *store.Error {
	return &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
		"The response is larger than %d bytes (--document-answer-bytes); request fewer rows or fields at a time.", max)}
}
