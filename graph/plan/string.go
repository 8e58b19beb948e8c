package plan

import "math/bits"

// AppendString appends a JSON string as gqlgen writes it: only quotation marks,
// backslashes and control characters are escaped.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, text[n])
		text = text[n+1:]
	}
}

const hexDigits = "0123456789ABCDEF"

// appendEscape appends the escape of a byte that plainPrefix stopped at.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\n':
		return append(dst, '\\', 'n')
	case '\\', '"':
		return append(dst, '\\', c)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// The highest bit of each byte of a word, and the lowest.
const (
	highBits = 0x8080808080808080
	lowBits  = 0x0101010101010101
)

// plainPrefix returns how many bytes at the start of text need no escape, checking eight
// at a time.
func plainPrefix(text string) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
			uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56 // one load
		// A byte of special has its highest bit if the byte is below 0x20, or 0 in quote or backslash: the subtraction borrows then,
		// and &^ drops bytes that had the bit before. Bytes after the first may be wrong, which does not matter.
		quote, backslash := word^(lowBits*'"'), word^(lowBits*'\\')
		special := ((word - lowBits*0x20) &^ word) | ((quote - lowBits) &^ quote) | ((backslash - lowBits) &^ backslash)
		if special &= highBits; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
