package store

import (
	"strings"
	"unicode/utf8"
)

// EscapeFormula returns a text as a cell of a CSV file that no spreadsheet takes for a formula: an apostrophe
// precedes a text that begins as one does. So that UnescapeFormula can read every text, it also precedes a text that
// begins with apostrophes before that.
func EscapeFormula(text string) string {
	if beginsFormula(text) {
		return "'" + text
	}
	return text
}

// UnescapeFormula returns the text of a cell that EscapeFormula wrote.
func UnescapeFormula(cell string) string {
	if text, escaped := strings.CutPrefix(cell, "'"); escaped && beginsFormula(text) {
		return text
	}
	return cell
}

// beginsFormula reports whether a text begins with the characters of a formula, or with apostrophes before them.
func beginsFormula(text string) bool {
	first, size := utf8.DecodeRuneInString(strings.TrimLeft(text, "'"))
	return size > 0 && strings.ContainsRune("=+-@＝＋－＠\t\r\n", first)
}
