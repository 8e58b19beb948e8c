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

// secretWords are words of operations that may hold a secret.
var secretWords = []string{"gateway", "password", "secret"}

// redacted stands where an error would quote.
const redacted = "…"

// redactErrors takes out of the errors what an operation that may hold a secret
// says.
func (names schemaNames) redactErrors(params *graphql.RawParams, faults gqlerror.List) {
	if len(faults) == 0 {
		return
	}
	said := sentTextOf(params)
	holds := mayHoldSecret(said.text)
	for _, fault := range faults {
		if !holds && !isSyntax(fault) {
			continue
		}
		fault.Message = names.redact(fault.Message, said)
		if argument, ok := fault.Extensions["argument"].([]string); ok {
			shown := make([]string, len(argument))
			for i, step := range argument {
				shown[i] = names.redact(step, said)
			}
			fault.Extensions["argument"] = shown
		}
		for i, step := range fault.Path {
			if name, ok := step.(ast.PathName); ok {
				fault.Path[i] = ast.PathName(names.redact(string(name), said))
			}
		}
	}
}

// mayHoldSecret tells whether what was sent may hold a secret.
func mayHoldSecret(sent string) bool {
	lower := strings.ToLower(sent)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(lower, word) })
}

// redactPath is where in a body a fault is: as far as the schema names it,
// where the body may hold a secret. The first step is ours.
func (names schemaNames) redactPath(path []string, body string) []string {
	if len(path) == 0 || !mayHoldSecret(body) {
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

// sentText is all that a caller wrote, and its words.
type sentText struct {
	text  string
	words map[string]bool
}

// punctuation is what stands around words.
const punctuation = `"'` + "`" + `.,:;()[]{}!?$@`

func sentTextOf(params *graphql.RawParams) sentText {
	var b bytes.Buffer
	b.WriteString(params.Query + " " + params.OperationName + " ")
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(params.Variables) // which was JSON
	s := sentText{b.String(), map[string]bool{}}
	for word := range strings.FieldsFuncSeq(s.text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(punctuation, r) }) {
		s.words[word] = true
	}
	return s
}

// redact replaces the words that were said and are no names, those of paths too.
// Outside of quotes it leaves the words that messages are made of.
func (names schemaNames) redact(message string, said sentText) string {
	words := strings.Split(message, " ")
	quoted := false
	for i, word := range words {
		core := strings.Trim(word, punctuation)
		plain := !quoted && !strings.Contains(word, `"`)
		quoted = quoted != (strings.Count(word, `"`)%2 == 1)
		if core == "" || plain && messageWords[core] {
			continue
		}
		steps := strings.Split(core, ".")
		for j, step := range steps {
			if names.isSentText(strings.Trim(step, punctuation), said) {
				steps[j] = redacted
			}
		}
		if names.isSentText(core, said) {
			steps = []string{redacted}
		}
		words[i] = strings.Replace(word, core, strings.Join(steps, "."), 1)
	}
	return strings.Join(words, " ")
}

// isSentText tells words that the caller said and the schema does not. A short one
// is found in any text, and quoted whole.
func (names schemaNames) isSentText(word string, said sentText) bool {
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
