package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// Errors of a request that did not run quote it. If it is about a gateway, the quote may be a password in the wrong place, so
// the errors of such requests keep only words that the schema or the library's messages have, the names of variables and
// aliases that the document defines, and bounds. Errors of fields that ran are not redacted: nothing prints a Secret.

// secretWords are words of requests that may hold a secret.
var secretWords = []string{"gateway", "password", "secret"}

// redacted replaces a quoted word.
const redacted = "…"

// redactErrors redacts the errors of a request that may hold a secret and did not run, and all syntax errors.
func (names schemaNames) redactErrors(params *graphql.RawParams, errs gqlerror.List) {
	if len(errs) == 0 {
		return
	}
	sent := sentTextOf(params)
	secret := mayHoldSecret(sent.text)
	for _, err := range errs {
		if len(err.Path) > 0 || !secret && !isSyntax(err) {
			continue
		}
		message, place := err.Message, ""
		if argument, ok := err.Extensions["argument"].([]string); ok {
			place = strings.Join(argument, ".") + ": "
			shown := make([]string, len(argument))
			for i, step := range argument {
				shown[i] = names.redact(step, sent, true)
			}
			err.Extensions["argument"] = shown
		}
		if rest, found := strings.CutPrefix(message, place); found {
			message = rest
		} else {
			place = ""
		}
		quotesValues := err.Rule == "ValuesOfCorrectType" || isSyntax(err)
		err.Message = names.redact(place, sent, true) + names.redact(message, sent, !quotesValues)
	}
}

// mayHoldSecret reports whether the text of a request has one of secretWords.
func mayHoldSecret(sent string) bool {
	lower := strings.ToLower(sent)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(lower, word) })
}

// redactPath returns the path of an error in a body. If the body may hold a secret, it ends before the
// first name that the schema does not have. The first step is a member of clientRequest.
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

// isSyntax reports whether an error is of the parser, which may quote any part of the request.
func isSyntax(err *gqlerror.Error) bool {
	return strings.HasPrefix(err.Message, "Unexpected ") || strings.HasPrefix(err.Message, "Expected ")
}

// messageWords are the words of the validator's messages, outside of quotes.
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

// sentText is the text of a request, its words, and the names that it defines: of variables and aliases.
type sentText struct {
	text    string
	words   map[string]bool
	defined map[string]bool
}

// punctuation separates words.
const punctuation = `"'` + "`" + `.,:;()[]{}!?$@`

func sentTextOf(params *graphql.RawParams) sentText {
	var b bytes.Buffer
	b.WriteString(params.Query + " " + params.OperationName + " ")
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(params.Variables) // cannot fail: it was JSON
	s := sentText{b.String(), map[string]bool{}, map[string]bool{}}
	if document, err := parser.ParseQuery(&ast.Source{Input: params.Query}); err == nil {
		s.define(document)
	}
	for word := range strings.FieldsFuncSeq(s.text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(punctuation, r) }) {
		s.words[word] = true
	}
	return s
}

// define adds the names that a document defines.
func (s *sentText) define(document *ast.QueryDocument) {
	var aliases func(ast.SelectionSet)
	aliases = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				if selection.Alias != selection.Name {
					s.defined[selection.Alias] = true
				}
				aliases(selection.SelectionSet)
			case *ast.InlineFragment:
				aliases(selection.SelectionSet)
			}
		}
	}
	for _, operation := range document.Operations {
		for _, variable := range operation.VariableDefinitions {
			s.defined[variable.Variable] = true
		}
		aliases(operation.SelectionSet)
	}
	for _, fragment := range document.Fragments {
		aliases(fragment.SelectionSet)
	}
}

// redact replaces the words of a message that were sent, and are neither names of the schema nor defined in the document.
// Outside of quotes it keeps messageWords, and with numbers bounds and positions in lists too.
func (names schemaNames) redact(message string, sent sentText, numbers bool) string {
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
			if names.mustRedact(strings.Trim(step, punctuation), sent, numbers) {
				steps[j] = redacted
			}
		}
		if names.mustRedact(core, sent, numbers) {
			steps = []string{redacted}
		}
		words[i] = strings.Replace(word, core, strings.Join(steps, "."), 1)
	}
	return strings.Join(words, " ")
}

// maxNumber is the number of digits of a bound or a position that is not redacted.
const maxNumber = 4

// mustRedact reports whether a word was sent, and is neither a name of the schema nor defined in the document. A word of up to
// three letters must have been sent as a whole word, since it may be in a longer one by chance. numbers keeps those of up to
// maxNumber digits, such as bounds and positions.
func (names schemaNames) mustRedact(word string, sent sentText, numbers bool) bool {
	if numbers && len(word) <= maxNumber && strings.Trim(word, "0123456789") == "" {
		return false
	}
	return word != "" && !names[word] && !sent.defined[word] && (sent.words[word] || len(word) > 3 && strings.Contains(sent.text, word))
}

// schemaNames holds the names of a schema's types, fields, arguments, enum values and directives.
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
