package store

import (
	"strings"
	"unicode/utf8"
)

// EscapeFormula returns a text as a cell of a CSV file that no spreadsheet takes for a formula: an apostrophe
// precedes a text that begins as one does. It also precedes a text with spaces around it, which an import would trim. So that
// UnescapeFormula can read every text, it also precedes a text that begins with apostrophes before that.
func EscapeFormula(text string) string {
	if needsApostrophe(text) {
		return "'" + text
	}
	return text
}

// UnescapeFormula returns the text of a cell that EscapeFormula wrote.
func UnescapeFormula(cell string) string {
	if text, escaped := strings.CutPrefix(cell, "'"); escaped && needsApostrophe(text) {
		return text
	}
	return cell
}

// needsApostrophe reports whether a text, after its apostrophes, begins with the characters of a formula or has spaces around it.
func needsApostrophe(text string) bool {
	text = strings.TrimLeft(text, "'")
	first, size := utf8.DecodeRuneInString(text)
	return size > 0 && (strings.ContainsRune("=+-@＝＋－＠\t\r\n", first) || strings.TrimSpace(text) != text)
}
