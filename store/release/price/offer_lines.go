package price

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unique"

	"portico/store"
)

// The first bytes of the lines for a base price, and for sales.
const (
	priceLine = "=" // =USD retail 1999 0 and the tiers, if any
	salesLine = "%" // %USD retail and the sales
)

// OfferLines encodes a product's offers by currency, as OfferIn reads them. A currency has a line for the base price and one
// for sales, if there are any. The number after an amount is 1 if it includes tax, else 0.
func OfferLines(offers map[string]*Offer) string {
	var lines []byte
	for _, code := range slices.Sorted(maps.Keys(offers)) {
		o := offers[code]
		if o.Base != nil {
			lines = fmt.Appendf(lines, "%s%s %s %d ", priceLine, code, o.PricebookID, o.Base.Minor)
			if lines = append(lines, "0 "...); o.Base.IncludesTax {
				lines[len(lines)-2] = '1'
			}
			if len(o.Base.Tiers) > 0 {
				lines = append(lines, store.Encode(o.Base.Tiers)...)
			}
			lines = append(lines, '\n')
		}
		if len(o.Sales) > 0 {
			lines = fmt.Appendf(lines, "%s%s %s %s\n", salesLine, code, o.PricebookID, store.Encode(o.Sales))
		}
	}
	return string(lines)
}

// OfferCurrencies returns the currencies of encoded offers, in order.
func OfferCurrencies(lines string) (codes []string) {
	for line := range strings.SplitSeq(lines, "\n") {
		if name, _, _ := strings.Cut(line, " "); len(name) > 1 && !slices.Contains(codes, name[1:]) {
			codes = append(codes, name[1:])
		}
	}
	return codes
}

// OfferIn decodes the offer in one currency; an empty offer for any other.
func OfferIn(lines, currency string) (*Offer, error) {
	var memory struct { // one allocation for both
		Offer
		base TieredPrice
	}
	o := &memory.Offer
	for line := range strings.SplitSeq(lines, "\n") {
		name, rest, _ := strings.Cut(line, " ")
		if len(name) != 1+len(currency) || name[1:] != currency {
			continue
		}
		pricebook, terms, _ := strings.Cut(rest, " ")
		o.PricebookID = unique.Make(pricebook).Value() // outlives lines, and most products have the same
		if name[:1] == salesLine {
			if err := json.Unmarshal([]byte(terms), &o.Sales); err != nil {
				return nil, err
			}
			continue
		}
		amount, terms, _ := strings.Cut(terms, " ")
		tax, tiers, _ := strings.Cut(terms, " ")
		minor, err := strconv.ParseInt(amount, 10, 64)
		if err != nil {
			return nil, err
		}
		memory.base = TieredPrice{Minor: minor, IncludesTax: tax == "1"}
		o.Base = &memory.base
		if tiers == "" {
			continue
		}
		if err := json.Unmarshal([]byte(tiers), &o.Base.Tiers); err != nil {
			return nil, err
		}
	}
	return o, nil
}
