package store

import (
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	"golang.org/x/text/language"
)

// MoneyFormat formats minor units of one currency in one locale as NewMoney does. What stands between
// the digits of an amount depends only on their number, so it asks CLDR once for each number of
// digits. It is safe for concurrent use.
type MoneyFormat struct {
	code     string
	locale   language.Tag
	patterns [maxMoneyDigits + 1]atomic.Pointer[moneyPattern]
}

// maxMoneyDigits is the largest number of digits with a pattern.
const maxMoneyDigits = 16

// moneyPattern is what the amounts with one number of digits share.
type moneyPattern struct {
	around []string   // the text before each digit and after the last; nil if there is no pattern
	digits [10]string // of the locale
}

// NewMoneyFormat returns a format of a currency in a locale.
func NewMoneyFormat(code string, locale language.Tag) *MoneyFormat {
	return &MoneyFormat{code: code, locale: locale}
}

// Size is about the memory in bytes when all patterns are known.
func (f *MoneyFormat) Size() int { return maxMoneyDigits * 512 }

// Money returns an amount.
func (f *MoneyFormat) Money(minor int64) *Money {
	m := f.MoneyValue(minor)
	return &m
}

// MoneyValue is Money as a part of a larger value.
func (f *MoneyFormat) MoneyValue(minor int64) Money {
	var buffer [20]byte
	amount := strconv.AppendInt(buffer[:0], minor, 10)
	if minor < 0 || len(amount) > maxMoneyDigits {
		return *NewMoney(minor, f.code, f.locale)
	}
	pattern := f.patterns[len(amount)].Load()
	if pattern == nil {
		pattern = f.newPattern(len(amount))
		f.patterns[len(amount)].Store(pattern)
	}
	if pattern.around == nil {
		return *NewMoney(minor, f.code, f.locale)
	}
	texts := pattern.format(amount)
	return Money{Amount: texts[:len(amount)], Currency: f.code, Formatted: texts[len(amount):]}
}

// newPattern learns the digits of the locale from 1234567890, which has each once, and what stands around the digits from an
// amount of count ones. Zeros before it, as in "0.01", are text. The pattern is unusable (around is nil) if the locale shows
// other digits than those of the amount.
func (f *MoneyFormat) newPattern(count int) *moneyPattern {
	const every = 1234567890 // each digit once
	pattern, known := &moneyPattern{}, 0
	for _, r := range NewMoney(every, f.code, f.locale).Formatted {
		if unicode.IsDigit(r) {
			if known++; known > 10 {
				return pattern
			}
			pattern.digits[known%10] = string(r)
		}
	}
	ones, _ := strconv.ParseInt(strings.Repeat("1", count), 10, 64)
	around := strings.Split(NewMoney(ones, f.code, f.locale).Formatted, pattern.digits[1])
	if known == 10 && len(around) == count+1 {
		pattern.around = around
	}
	return pattern
}

// format returns an amount that has as many digits as the pattern, and then the amount as it is written.
func (p *moneyPattern) format(amount []byte) string {
	buffer := [128]byte{}
	text := append(append(buffer[:0], amount...), p.around[0]...)
	for i, digit := range amount {
		text = append(append(text, p.digits[digit-'0']...), p.around[i+1]...)
	}
	return string(text)
}
