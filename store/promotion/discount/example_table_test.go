package discount_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/promotion/discount"
	"portico/store/promotion/rule"
)

// TestExamples runs the table of docs/promotions.md.
func TestExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/promotions.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| cart | promotions | discounts | total |\n|---|---|---|---|\n")
	require.True(t, found)
	kinds, rows := map[rule.PromotionType]bool{}, 0
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(row), "|")
		if len(cells) != 6 {
			break
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows++
		t.Run(cells[1]+" "+cells[2], func(t *testing.T) {
			lines, offers := parseLines(t, cells[1]), parseOffers(t, cells[2])
			var texts []string
			total := discount.Subtotal(lines)
			for _, d := range apply(lines, offers, "USD") {
				texts, total = append(texts, offers[d.Offer].Promotion.ID+" "+amountText(d.Minor)), total-d.Minor
				requireConsistent(t, lines, d)
			}
			require.Equal(t, []string{cells[3], cells[4]}, []string{strings.Join(texts, ", "), amountText(total)})
		})
		for _, o := range parseOffers(t, cells[2]) {
			kinds[o.Promotion.Type] = true
		}
	}
	require.Greater(t, rows, 30)
	for _, kind := range rule.PromotionTypes() {
		require.True(t, kinds[kind], "no example has the type %s", kind)
	}
}

// parseLines parses "2 MUG 10.00, 1 CUP 4.00".
func parseLines(t testing.TB, text string) (lines []discount.Line) {
	t.Helper()
	for part := range strings.SplitSeq(text, ", ") {
		words := strings.Fields(part)
		require.Len(t, words, 3, part)
		line := discount.Line{SKU: words[1], Unit: minorOf(t, words[2]), Quantity: numberOf(t, words[0])}
		if line.SKU == "GLASS" {
			line.Extensions = json.RawMessage(`{"products(brand)":{"brand":"LG"}}`)
		}
		lines = append(lines, line)
	}
	return lines
}

// parseOffers parses "A: 10% off MUG, 2 times; B: 3 for 2 of MUG CUP".
func parseOffers(t testing.TB, text string) (offers []discount.Offer) {
	t.Helper()
	for part := range strings.SplitSeq(text, "; ") {
		if part == "" {
			continue
		}
		id, terms, found := strings.Cut(part, ": ")
		require.True(t, found, part)
		members := strings.Split(terms, ", ")
		source := &rule.Source{ID: id, Name: id}
		schema := map[string]any{}
		parseTerms(t, members[0], source, schema)
		offer := discount.Offer{}
		for _, member := range members[1:] {
			words := strings.Fields(member)
			last := words[len(words)-1]
			switch {
			case words[0] == "from":
				require.NoError(t, json.Unmarshal(amounts(t, last), &source.MinCartValue))
			case strings.HasPrefix(member, "at most"):
				require.NoError(t, json.Unmarshal(amounts(t, last), &source.MaxDiscountValue))
			case last == "times":
				source.MaxApplicationsPerCart = numberOf(t, words[0])
			case last == "uses":
				uses := numberOf(t, words[0])
				offer.Code, offer.Limit = id, &uses
			case words[0] == "not":
				schema["conditions"] = map[string]any{"and": []any{map[string]any{"template": words[1], "field": words[1], "type": "string", "value": words[2]}}}
			default:
				require.Fail(t, "not a term", member)
			}
		}
		var err error
		source.Schema, err = json.Marshal(schema)
		require.NoError(t, err)
		offer.Promotion = rule.NewPromotion(source, time.Time{})
		offers = append(offers, offer)
	}
	return offers
}

var (
	percentOff = regexp.MustCompile(`^(\d+)% off (.+)$`)
	amountOff  = regexp.MustCompile(`^([\d.]+) off (.+)$`)
	xFor       = regexp.MustCompile(`^(\d+) for ([\d.]+) of (.+)$`)
	freeWith   = regexp.MustCompile(`^free ([\w ]+) with (.+)$`)
)

func parseTerms(t testing.TB, text string, source *rule.Source, schema map[string]any) {
	t.Helper()
	if m := percentOff.FindStringSubmatch(text); m != nil {
		schema["percent"] = json.Number(m[1])
		source.PromotionType = parseTargets(m[2], schema, rule.PercentDiscount, rule.ItemPercentDiscount)
		return
	}
	if m := xFor.FindStringSubmatch(text); m != nil {
		source.PromotionType = string(rule.XForY)
		schema["x"], schema["targets"] = json.Number(m[1]), strings.Fields(m[3])
		if strings.Contains(m[2], ".") {
			source.PromotionType, schema["currencies"] = string(rule.XForAmount), amounts(t, m[2])
		} else {
			schema["y"] = json.Number(m[2])
		}
		return
	}
	if m := freeWith.FindStringSubmatch(text); m != nil {
		source.PromotionType = string(rule.BundleGift)
		schema["gifts"], schema["requirements"] = strings.Fields(m[1]), parseRequirements(t, m[2])
		return
	}
	m := amountOff.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	schema["currencies"] = amounts(t, m[1])
	if strings.ContainsAny(m[2][:1], "123456789") {
		source.PromotionType = string(rule.BundleFixedDiscount)
		schema["requirements"] = parseRequirements(t, m[2])
		return
	}
	source.PromotionType = parseTargets(m[2], schema, rule.FixedDiscount, rule.ItemFixedDiscount)
}

// parseTargets sets targets, unless the promotion is about the cart or about all items.
func parseTargets(text string, schema map[string]any, ofCart, ofItems rule.PromotionType) string {
	switch text {
	case "the cart":
		return string(ofCart)
	case "all":
		return string(ofItems)
	}
	schema["targets"] = strings.Fields(text)
	return string(ofItems)
}

// parseRequirements parses "1 MUG + 2 any".
func parseRequirements(t testing.TB, text string) (parts []any) {
	t.Helper()
	for part := range strings.SplitSeq(text, " + ") {
		words := strings.Fields(part)
		requirement := map[string]any{"quantity": json.Number(words[0])}
		if words[1] != "any" {
			requirement["targets"] = words[1:]
		}
		parts = append(parts, requirement)
	}
	return parts
}

func amounts(t testing.TB, text string) json.RawMessage {
	t.Helper()
	return fmt.Appendf(nil, `[{"currency":"USD","amount":%d}]`, minorOf(t, text))
}

func minorOf(t testing.TB, text string) int64 {
	t.Helper()
	require.Regexp(t, `^\d+\.\d\d$`, text)
	return int64(numberOf(t, strings.Replace(text, ".", "", 1)))
}

func numberOf(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func amountText(minor int64) string { return fmt.Sprintf("%d.%02d", minor/100, minor%100) }

// requireConsistent requires that the parts of a discount add up, and that none is more than its line.
func requireConsistent(t require.TestingT, lines []discount.Line, d discount.Discount) {
	sum := int64(0)
	for _, part := range d.Lines {
		require.Positive(t, part.Minor)
		require.LessOrEqual(t, part.Minor, lines[part.Line].Unit*int64(lines[part.Line].Quantity))
		sum += part.Minor
	}
	require.Equal(t, d.Minor, sum)
	require.Positive(t, d.Minor)
	require.Positive(t, d.Applications)
}

// apply returns the discounts of a cart.
func apply(lines []discount.Line, offers []discount.Offer, currency string) []discount.Discount {
	discounts, err := discount.NewCart(lines, currency, nil).Apply(offers)
	if err != nil {
		panic(err)
	}
	return discounts
}
