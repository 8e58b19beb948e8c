package code

import (
	"crypto/rand"
	"math/big"
	random "math/rand/v2"
	"strings"

	"portico/store"
	"portico/store/authoring"
)

// placeholder stands in a pattern for a character of the alphabet.
const placeholder = "#"

// DefaultCodePattern makes codes of 60 random bits.
const DefaultCodePattern = "####-####-####"

const (
	maxAlphabet = 64

	// guessesPerCode is the least number of guesses that must be needed, on average, to find a
	// code.
	guessesPerCode = 100
)

// codePattern describes codes. The pattern SUMMER-#### with the alphabet 01 makes SUMMER-0110.
type codePattern struct {
	text     string
	alphabet []rune
}

// newCodePattern parses a pattern and its alphabet. The defaults are DefaultCodePattern and
// Crockford's base 32. The errors are at pattern and alphabet.
func newCodePattern(text, alphabet string) (codePattern, store.Errors) {
	if text == "" {
		text = DefaultCodePattern
	}
	if alphabet == "" {
		alphabet = crockford
	}
	p := codePattern{text, []rune(alphabet)}
	f := &authoring.Validator{}
	for i, c := range p.alphabet {
		if !isCodeCharacter(c) || c == ' ' || strings.ContainsRune(string(p.alphabet[:i]), c) {
			f.Rule("alphabet", "must contain distinct visible characters other than a slash, got %q", store.Abbreviate(alphabet))
			break
		}
	}
	if n := len(p.alphabet); n < 2 || n > maxAlphabet {
		f.Rule("alphabet", "must have 2 to %d characters, got %d", maxAlphabet, n)
	}
	checkCodeText(f, "pattern", text)
	if p.slots() == 0 {
		f.Rule("pattern", "must have a # for each character to draw, such as SUMMER-####-####, got %q", store.Abbreviate(text))
	}
	if dots := strings.ContainsRune(alphabet, '.') && strings.Trim(text, ".#") == ""; dots && len(text) <= len("..") {
		f.Rule("pattern", "must be longer: the codes . and .. cannot be path segments")
	}
	return p, f.Errors
}

// slots returns the number of characters to draw.
func (p codePattern) slots() int { return strings.Count(p.text, placeholder) }

// space returns how many codes are possible.
func (p codePattern) space() *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(len(p.alphabet))), big.NewInt(int64(p.slots())), nil)
}

// odds returns how many guesses it takes on average to find one of count codes. It returns
// UNPROCESSABLE below guessesPerCode.
func (p codePattern) odds(count int) (float64, error) {
	space := p.space()
	odds, _ := new(big.Float).Quo(new(big.Float).SetInt(space), big.NewFloat(float64(count))).Float64()
	if odds < guessesPerCode {
		return odds, store.Unprocessablef([]string{"pattern"}, "is too small for %d codes: it allows %s, so that 1 in %.3g guesses would find one, and at most 1 in %d may. Add a #, or characters to the alphabet.",
			count, space, max(1, odds), guessesPerCode)
	}
	return odds, nil
}

// draw returns n unpredictable codes, which may repeat.
func (p codePattern) draw(n int) []string {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	dice := random.New(random.NewChaCha8(seed))
	codes := make([]string, n)
	var b strings.Builder
	for i := range codes {
		b.Reset()
		for _, c := range p.text {
			if string(c) == placeholder {
				c = p.alphabet[dice.IntN(len(p.alphabet))]
			}
			b.WriteRune(c)
		}
		codes[i] = b.String()
	}
	return codes
}

// crockford is Crockford's base 32, without I, L, O and U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newCode returns an unguessable code: 12 characters of 5 bits in groups of four.
func newCode() string {
	var drawn [12]byte
	_, _ = rand.Read(drawn[:]) // never fails
	code := make([]byte, 0, len("XXXX-XXXX-XXXX"))
	for i, b := range drawn {
		if i > 0 && i%4 == 0 {
			code = append(code, '-')
		}
		code = append(code, crockford[b%32])
	}
	return string(code)
}
