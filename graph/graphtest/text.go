package graphtest

import (
	"fmt"
	"strconv"
	"strings"
)

// ProductScalars selects every field of a product that reads no other record.
const ProductScalars = `id uuid name description sku slug commodityType upcEan manufacturerPartNum externalRef tags productTypes priceModifiers
	baseProduct createdAt updatedAt publishedAt locale catalogUuid pricebookUuid
	price { money { amount currency formatted } includesTax }
	originalPrice { money { amount } } saleName saleExpires tiers { name minimumQuantity price { money { amount } } } modifiers { name modifierType amounts { money { amount } } } components { key name min max sortOrder options { uuid quantity } }
	bundleChoices { component options { uuid quantity } } customInputs extensions shopperAttributes variations { uuid name } childVariations { uuid } variantOptions { uuid optionUuids }`

// ProductEdges selects every field of a product.
const ProductEdges = ProductScalars + ` translations { locale name } variantOptions { uuid } childrenConnection(first: 2) { totalCount nodes { uuid } } componentProductsConnection { nodes { uuid } } parent { uuid sku } children { uuid sku } files { attachedAt file { uuid href } } mainImage { uuid href }
	componentProducts { uuid sku } catalogNodes { uuid name } breadcrumbs { catalogNode { uuid } ancestors { uuid name } } stock { total available allocated } promotions { name promotionType end amount { formatted } percent requirements { skus quantity } }`

// Many repeats text n times, with # replaced by the number of the repetition, from 0, and % by the next
// number.
func Many(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("#", strconv.Itoa(i), "%", strconv.Itoa(i+1)).Replace(text))
	}
	return b.String()
}

// Nested puts n times before and after around a core.
func Nested(n int, before, core, after string) string {
	return strings.Repeat(before, n) + core + strings.Repeat(after, n)
}

// ConditionalQuery returns a query with Boolean variables in @skip and @include, and their values.
func ConditionalQuery(booleans int, value func(i int) bool) (string, map[string]any) {
	var defined, fields strings.Builder
	values := map[string]any{}
	for i := range booleans {
		fmt.Fprintf(&defined, " $c%d: Boolean!", i)
		fmt.Fprintf(&fields, " f%d: currency @include(if: $c%d) ...F%d @skip(if: $c%d)", i, i, i, i)
		values[fmt.Sprint("c", i)] = value(i)
	}
	query := fmt.Sprintf("query (%s) { settings { %s } }", &defined, &fields)
	for i := range booleans {
		query += fmt.Sprintf(" fragment F%d on Settings { g%d: pageLength }", i, i)
	}
	return query, values
}
