package code

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"portico/store"
	"portico/store/db"
)

// Key returns a code without its case: codes have the same key if Unicode's simple folding makes them
// equal. Each character becomes the first of those that fold to it, so that codes in upper case without
// accents are their own key. A key is never longer than its code, in bytes.
func Key(code string) string {
	if !strings.ContainsFunc(code, func(c rune) bool { return 'a' <= c && c <= 'z' || c >= utf8.RuneSelf }) {
		return code
	}
	return strings.Map(func(c rune) rune {
		least := c
		for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, code)
}

// storedKey returns the column code_key: nil for a code that is its own key.
func storedKey(code string) any {
	if key := Key(code); key != code {
		return key
	}
	return nil
}

// A Match compares codes as the shop's settings say.
type Match struct{ ignoreCase bool }

// MatchOf returns how the shop compares codes.
func MatchOf(ctx context.Context, d *db.DB) (Match, error) {
	settings, err := d.Settings(ctx)
	if err != nil {
		return Match{}, err
	}
	return Match{settings.CodesIgnoreCase}, nil
}

// Key returns a text that is the same for codes that match.
func (m Match) Key(code string) string {
	if m.ignoreCase {
		return Key(code)
	}
	return code
}

// Spellings returns the codes that may match one of the texts, as they are stored, without duplicates: the
// texts, and without regard to case also their keys and the codes that have these keys. It reads the
// database only then.
func (m Match) Spellings(ctx context.Context, in db.Session, texts []string) ([]string, error) {
	texts = store.Unique(slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !IsText(text) }))
	if !m.ignoreCase || len(texts) == 0 {
		return texts, nil
	}
	keys := make([]string, len(texts))
	for i, text := range texts {
		keys[i] = Key(text)
	}
	keys = store.Unique(keys)
	others, err := db.CollectIn(ctx, in, db.Scalar[string], keys, `SELECT DISTINCT code FROM promotion_code WHERE code_key IN ($in)`)
	return store.Unique(slices.Concat(texts, keys, others)), err
}
