package store

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// checkJSON calls rule for each text; rule returns what is wrong, or "".
func checkJSON(raw []byte, rule func(string) string) error {
	if utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil
	}
	w := &textWalker{decoder: json.NewDecoder(bytes.NewReader(raw)), raw: raw, rule: rule}
	for {
		if err := w.next(); err != nil || w.err != nil {
			return w.err
		}
	}
}

// textWalker visits the texts of a JSON value.
type textWalker struct {
	decoder *json.Decoder
	raw     []byte
	rule    func(string) string
	levels  []textLevel
	err     error
}

// textLevel is an object or array that encloses the current position.
type textLevel struct {
	object bool
	name   string // of the member; empty if the next text is a name
	index  int    // of the element, from 0; in an object 0 before a member's name and 1 after it
}

// next reads a token. io.EOF and malformed JSON end the walk.
func (w *textWalker) next() error {
	before := w.decoder.InputOffset()
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' || token == '[' {
			w.levels = append(w.levels, textLevel{object: token == '{'})
			return nil
		}
		if len(w.levels) == 0 {
			return io.EOF
		}
		w.levels = w.levels[:len(w.levels)-1]
	case string:
		isName := w.takesName()
		if broken := w.problem(w.raw[before:w.decoder.InputOffset()]); broken != "" {
			if isName {
				broken = "has a member name that " + broken
			}
			w.err = Invalidf(w.path(isName), "%s", broken)
			return nil
		}
		if isName {
			level := &w.levels[len(w.levels)-1]
			level.name, level.index = token, 1
			return nil
		}
	}
	w.endValue()
	return nil
}

// takesName reports whether the next text is a member's name.
func (w *textWalker) takesName() bool {
	if len(w.levels) == 0 {
		return false
	}
	level := w.levels[len(w.levels)-1]
	return level.object && level.index == 0
}

// endValue moves on to the next element or member.
func (w *textWalker) endValue() {
	if len(w.levels) == 0 {
		return
	}
	level := &w.levels[len(w.levels)-1]
	if level.object {
		level.name, level.index = "", 0
		return
	}
	level.index++
}

// path returns the current path; for a name, that of its object.
func (w *textWalker) path(ofName bool) (path []string) {
	levels := w.levels
	if ofName {
		levels = levels[:len(levels)-1]
	}
	for _, level := range levels {
		if level.object {
			path = append(path, level.name)
		} else {
			path = append(path, strconv.Itoa(level.index))
		}
	}
	return path
}

// problem returns what is wrong with a text; "" if nothing.
func (w *textWalker) problem(text []byte) string {
	if !utf8.Valid(text) {
		return notUTF8
	}
	return w.rule(string(text))
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
