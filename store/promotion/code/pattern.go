package code

import (
	"crypto/rand"
	"math/big"
	random "math/rand/v2"
	"strings"

	"portico/store"
	"portico/store/authoring"
)

// codeSlot is where a pattern has a character drawn from the alphabet.
const codeSlot = "#"

// DefaultCodePattern gives codes of 60 bits.
const DefaultCodePattern = "####-####-####"

// The bounds of patterns.
const (
	maxAlphabet = 64

	// guessesPerCode is how many guesses must be needed at least, on average,
	// to find one of the codes.
	guessesPerCode = 100
)

// codePattern makes codes: SUMMER-#### with the alphabet 01 is SUMMER-0110.
type codePattern struct {
	text     string
	alphabet []rune
}

// newCodePattern reads a pattern and its alphabet; empty texts are
// DefaultCodePattern and Crockford's base 32.
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
		if !inCode(c) || c == ' ' || strings.ContainsRune(string(p.alphabet[:i]), c) {
			f.Rule("alphabet", "must have visible characters, each once, and no slash, got %q", store.Abbreviate(alphabet))
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
		f.Rule("pattern", "must not make the codes . and .., which no path can name; make it longer")
	}
	return p, f.Errors
}

func (p codePattern) slots() int { return strings.Count(p.text, codeSlot) }

// space is how many codes there can be.
func (p codePattern) space() *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(len(p.alphabet))), big.NewInt(int64(p.slots())), nil)
}

// odds is how many guesses it takes on average to find one of so many codes;
// a pattern that makes that too easy is UNPROCESSABLE.
func (p codePattern) odds(count int) (float64, error) {
	space := p.space()
	odds, _ := new(big.Float).Quo(new(big.Float).SetInt(space), big.NewFloat(float64(count))).Float64()
	if odds < guessesPerCode {
		return odds, store.Unprocessablef([]string{"pattern"}, "is too small for %d codes: there are %s, so that 1 guess in %.3g would find one; at least %d guesses must be needed: add a #, or characters to the alphabet",
			count, space, max(1, odds), guessesPerCode)
	}
	return odds, nil
}

// draw makes so many codes that nobody can foretell; some may be the same.
func (p codePattern) draw(n int) []string {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // which never fails
	dice := random.New(random.NewChaCha8(seed))
	codes := make([]string, n)
	var b strings.Builder
	for i := range codes {
		b.Reset()
		for _, c := range p.text {
			if string(c) == codeSlot {
				c = p.alphabet[dice.IntN(len(p.alphabet))]
			}
			b.WriteRune(c)
		}
		codes[i] = b.String()
	}
	return codes
}

// crockford is Crockford's base 32: no I, L, O and U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newCode makes a code nobody guesses: 12 characters of 5 bits each, in
// groups of four.
func newCode() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // which never fails
	code := make([]byte, 0, len("XXXX-XXXX-XXXX"))
	for i, b := range random {
		if i > 0 && i%4 == 0 {
			code = append(code, '-')
		}
		code = append(code, crockford[b%32])
	}
	return string(code)
}
