package transport

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Errors of GraphQL quote what they complain of, which helps whoever wrote it.
// Where an operation speaks of a gateway, that may be its password, in the
// wrong place: so their errors name what the schema names, and nothing else
// that the caller wrote.

// confidential are words of operations that may hold a secret.
var confidential = []string{"gateway", "password", "secret"}

// hidden stands where an error would quote.
const hidden = "…"

// discreet takes out of the errors what an operation that may hold a secret
// says.
func (names schemaNames) discreet(params *graphql.RawParams, faults gqlerror.List) {
	if len(faults) == 0 {
		return
	}
	said := speechOf(params)
	holds := isConfidential(said.text)
	for _, fault := range faults {
		if !holds && !isSyntax(fault) {
			continue
		}
		fault.Message = names.hide(fault.Message, said)
		if argument, ok := fault.Extensions["argument"].([]string); ok {
			shown := make([]string, len(argument))
			for i, step := range argument {
				shown[i] = names.hide(step, said)
			}
			fault.Extensions["argument"] = shown
		}
		for i, step := range fault.Path {
			if name, ok := step.(ast.PathName); ok {
				fault.Path[i] = ast.PathName(names.hide(string(name), said))
			}
		}
	}
}

// isConfidential tells whether what was sent may hold a secret.
func isConfidential(sent string) bool {
	lower := strings.ToLower(sent)
	return slices.ContainsFunc(confidential, func(word string) bool { return strings.Contains(lower, word) })
}

// discreetPath is where in a body a fault is: as far as the schema names it,
// where the body may hold a secret. The first step is ours.
func (names schemaNames) discreetPath(path []string, body string) []string {
	if len(path) == 0 || !isConfidential(body) {
		return path
	}
	for i, step := range path[1:] {
		if !names[step] {
			return path[:i+1]
		}
	}
	return path
}

// isSyntax tells the parser's errors, which may be about a rest of anything;
// its locations tell where.
func isSyntax(fault *gqlerror.Error) bool {
	return strings.HasPrefix(fault.Message, "Unexpected ") || strings.HasPrefix(fault.Message, "Expected ")
}

// messageWords are the words of the validator's messages, beside what they
// quote. A caller may write them too, as a name for instance.
var messageWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
		Argument Boolean Cannot Did Directive Enum Expected Field Float Fragment ID Int Schema String The There This Unexpected Unknown Value Variable
		a an anonymous any argument be because been but by can cannot defined definition directive does enum exist expecting field fields found fragment
		given has have in input integer is it itself least list location may mean member must name named never no non non-enum non-null not null number
		object of on one only operation or position provided query represent required selection spread string subfields the than there type used value
		values variable via was which with within you`) {
		words[word] = true
	}
	return words
}()

// speech is all that a caller wrote, and its words.
type speech struct {
	text  string
	words map[string]bool
}

// around is what stands around words.
const around = `"'` + "`" + `.,:;()[]{}!?$@`

func speechOf(params *graphql.RawParams) speech {
	var b bytes.Buffer
	b.WriteString(params.Query + " " + params.OperationName + " ")
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(params.Variables) // which was JSON
	s := speech{b.String(), map[string]bool{}}
	for word := range strings.FieldsFuncSeq(s.text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(around, r) }) {
		s.words[word] = true
	}
	return s
}

// hide replaces the words that were said and are no names, those of paths too.
// Outside of quotes it leaves the words that messages are made of.
func (names schemaNames) hide(message string, said speech) string {
	words := strings.Split(message, " ")
	quoted := false
	for i, word := range words {
		core := strings.Trim(word, around)
		plain := !quoted && !strings.Contains(word, `"`)
		quoted = quoted != (strings.Count(word, `"`)%2 == 1)
		if core == "" || plain && messageWords[core] {
			continue
		}
		steps := strings.Split(core, ".")
		for j, step := range steps {
			if names.hidden(strings.Trim(step, around), said) {
				steps[j] = hidden
			}
		}
		if names.hidden(core, said) {
			steps = []string{hidden}
		}
		words[i] = strings.Replace(word, core, strings.Join(steps, "."), 1)
	}
	return strings.Join(words, " ")
}

// hidden tells words that the caller said and the schema does not. A short one
// is found in any text, and quoted whole.
func (names schemaNames) hidden(word string, said speech) bool {
	return word != "" && !names[word] && (said.words[word] || len(word) > 3 && strings.Contains(said.text, word))
}

// schemaNames are the names of a schema's types, fields, arguments, values and
// directives.
type schemaNames map[string]bool

func newSchemaNames(schema *ast.Schema) schemaNames {
	names := schemaNames{}
	for name, definition := range schema.Types {
		names[name] = true
		for _, field := range definition.Fields {
			names[field.Name] = true
			for _, argument := range field.Arguments {
				names[argument.Name] = true
			}
		}
		for _, value := range definition.EnumValues {
			names[value.Name] = true
		}
	}
	for name, directive := range schema.Directives {
		names[name] = true
		for _, argument := range directive.Arguments {
			names[argument.Name] = true
		}
	}
	return names
}
