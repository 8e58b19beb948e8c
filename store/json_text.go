package store

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON decoders silently replace invalid UTF-8 and lone surrogates by U+FFFD, so that
// different texts become equal. Everything that reads client input checks it here first.
// NUL survives decoding; the rules of each resource reject it.

const (
	notUTF8       = "is not valid UTF-8; encode it as UTF-8"
	containsNUL   = "contains the character U+0000, which cannot be stored; remove it"
	loneSurrogate = "contains half of a surrogate pair; send both halves, such as \\ud83d\\ude00, or the character itself"
)

// CheckText returns INVALID with path if text is not valid UTF-8.
func CheckText(text string, path ...string) error {
	if !utf8.ValidString(text) {
		return Invalidf(path, notUTF8)
	}
	return nil
}

// CheckJSON returns INVALID with the member's path if a text in raw is not valid UTF-8 or
// has a lone surrogate. It ignores malformed JSON, which the decoder rejects.
func CheckJSON(raw []byte) error { return checkJSON(raw, EscapeProblem) }

// CheckImportLine is CheckJSON for import lines, which must not contain NUL either.
func CheckImportLine(raw []byte) error {
	return checkJSON(raw, func(text string) string {
		if escapesNUL(text) {
			return containsNUL
		}
		return EscapeProblem(text)
	})
}

// checkJSON calls rule for each text; rule returns what is wrong, or "". It copies only texts with escapes.
func checkJSON(raw []byte, rule func(string) string) error {
	if utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), encodedText)
	for {
		if d.PeekKind() != '"' {
			if _, err := d.ReadToken(); err != nil {
				return nil
			}
			continue
		}
		within, before := d.StackIndex(d.StackDepth())
		text, err := d.ReadValue()
		if err != nil {
			return nil
		}
		broken := textProblem(text, rule)
		if broken == "" {
			continue
		}
		path := slices.Collect(d.StackPointer().Tokens())
		if within == '{' && before%2 == 0 { // the text is the name of a member: the path is that of its object
			path, broken = path[:len(path)-1], "has a member name that "+broken
		}
		return Invalidf(path, "%s", broken)
	}
}

// EncodingError returns INVALID with the path of a text if err, with which jsontext stopped, is about a text that is not valid UTF-8 or
// has a lone surrogate. It returns nil for another error.
func EncodingError(err error) *Error {
	syntax := new(jsontext.SyntacticError)
	problem := ""
	switch {
	case !errors.As(err, &syntax):
	case strings.Contains(syntax.Err.Error(), "surrogate"):
		problem = loneSurrogate
	case strings.Contains(syntax.Err.Error(), "UTF-8"):
		problem = notUTF8
	}
	if problem == "" {
		return nil
	}
	return Invalidf(slices.Collect(syntax.JSONPointer.Tokens()), "%s", problem)
}

// textProblem returns what is wrong with a text; "" if nothing.
func textProblem(text []byte, rule func(string) string) string {
	if !utf8.Valid(text) {
		return notUTF8
	}
	if !bytes.Contains(text, []byte(`\u`)) {
		return ""
	}
	return rule(string(text))
}

// TextOf returns the text of a valid JSON string; empty for nil.
func TextOf(raw []byte) string {
	text, _ := jsontext.AppendUnquote(nil, raw)
	return string(text)
}

// EscapeProblem returns what is wrong with the \uXXXX escapes of a text, to follow its
// name: a lone surrogate. It returns "" if nothing is wrong.
func EscapeProblem(text string) string {
	for c := range unicodeEscapes(text) {
		if utf16.IsSurrogate(c) {
			return loneSurrogate
		}
	}
	return ""
}

// escapesNUL reports whether a text contains the escape \u0000.
func escapesNUL(text string) bool {
	for c := range unicodeEscapes(text) {
		if c == 0 {
			return true
		}
	}
	return false
}

// unicodeEscapes yields the characters of the \uXXXX escapes of a text; a lone surrogate as
// itself.
func unicodeEscapes(text string) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for at := strings.IndexByte(text, '\\'); at >= 0; {
			width := 2
			if c, ok := escapedUnit(text[at:]); ok {
				width = 6
				if low, ok := escapedUnit(text[at+6:]); ok && utf16.DecodeRune(c, low) != utf8.RuneError {
					c, width = utf16.DecodeRune(c, low), 12
				}
				if !yield(c) {
					return
				}
			}
			next := strings.IndexByte(text[min(at+width, len(text)):], '\\')
			if next < 0 {
				return
			}
			at += width + next
		}
	}
}

// escapedUnit decodes \uXXXX at the start of a text.
func escapedUnit(text string) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
