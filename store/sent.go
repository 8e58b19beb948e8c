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

// What is sent is what is kept: decoders of JSON write U+FFFD, without a word,
// for bytes that are not UTF-8 and for half a surrogate pair, so that different
// texts become the same. Whatever reads what strangers send asks here first.
// NUL is not lost that way; each noun's rules refuse it.

const (
	notUTF8   = "is not UTF-8 text; send it encoded as UTF-8"
	holdsNUL  = "holds the character U+0000, which cannot be kept; leave it out"
	halfAPair = "holds half a surrogate pair, which is no character; send both halves, such as \\ud83d\\ude00, or the character itself"
)

// CheckText is INVALID, with the path, for a text that is not UTF-8.
func CheckText(text string, path ...string) error {
	if !utf8.ValidString(text) {
		return Invalidf(path, notUTF8)
	}
	return nil
}

// CheckJSON is INVALID, with the path of the member, where a text in a JSON
// value is not UTF-8, or holds half a surrogate pair. What is no JSON is left
// to its decoder to refuse.
func CheckJSON(raw []byte) error { return checkJSON(raw, EscapeFault) }

// CheckLine is CheckJSON, for NUL too: nothing that is imported can hold it.
func CheckLine(raw []byte) error {
	return checkJSON(raw, func(text string) string {
		if escapesNUL(text) {
			return holdsNUL
		}
		return EscapeFault(text)
	})
}

// checkJSON asks rule for what the escapes of each text break.
func checkJSON(raw []byte, rule func(string) string) error {
	if utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil
	}
	w := &textWalk{decoder: json.NewDecoder(bytes.NewReader(raw)), raw: raw, rule: rule}
	for {
		if err := w.next(); err != nil || w.fault != nil {
			return w.fault
		}
	}
}

// textWalk goes through a JSON value text by text.
type textWalk struct {
	decoder *json.Decoder
	raw     []byte
	rule    func(string) string
	within  []textLevel
	fault   error
}

// textLevel is an object or an array that the walk is in.
type textLevel struct {
	object bool
	name   string // of the member; empty where the next text is a name
	index  int    // of the element, from 0
}

// next takes a token; io.EOF and what is no JSON end the walk.
func (w *textWalk) next() error {
	before := w.decoder.InputOffset()
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' || token == '[' {
			w.within = append(w.within, textLevel{object: token == '{'})
			return nil
		}
		if len(w.within) == 0 {
			return io.EOF
		}
		w.within = w.within[:len(w.within)-1]
	case string:
		isName := w.takesName()
		if broken := w.broken(w.raw[before:w.decoder.InputOffset()]); broken != "" {
			if isName {
				broken = "has a member whose name " + broken
			}
			w.fault = Invalidf(w.path(isName), "%s", broken)
			return nil
		}
		if isName {
			level := &w.within[len(w.within)-1]
			level.name, level.index = token, 1
			return nil
		}
	}
	w.passed()
	return nil
}

// takesName tells whether the next text is a member's name.
func (w *textWalk) takesName() bool {
	if len(w.within) == 0 {
		return false
	}
	level := w.within[len(w.within)-1]
	return level.object && level.index == 0
}

// passed notes that a value has ended.
func (w *textWalk) passed() {
	if len(w.within) == 0 {
		return
	}
	level := &w.within[len(w.within)-1]
	if level.object {
		level.name, level.index = "", 0
		return
	}
	level.index++
}

// path is where the walk is; for a name, of the object that it is in.
func (w *textWalk) path(ofName bool) (path []string) {
	levels := w.within
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

// broken is what a text as sent breaks; empty when it breaks nothing.
func (w *textWalk) broken(text []byte) string {
	if !utf8.Valid(text) {
		return notUTF8
	}
	return w.rule(string(text))
}

// EscapeFault is what the escapes \uXXXX of a text break, as what follows its
// name: one that stands for half a surrogate pair. It is empty when they break
// nothing.
func EscapeFault(text string) string {
	for c := range escapes(text) {
		if utf16.IsSurrogate(c) {
			return halfAPair
		}
	}
	return ""
}

// escapesNUL tells whether a text holds \u0000; \\u0000 is a backslash and
// five letters.
func escapesNUL(text string) bool {
	for c := range escapes(text) {
		if c == 0 {
			return true
		}
	}
	return false
}

// escapes are the characters that the escapes \uXXXX of a text stand for; half
// a pair stands for itself.
func escapes(text string) iter.Seq[rune] {
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

// escapedUnit is what \uXXXX at the start of a text stands for.
func escapedUnit(text string) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
