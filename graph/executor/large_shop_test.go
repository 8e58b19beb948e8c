package executor_test

import (
	"fmt"
	"strings"
)

// largeShop returns a shop with records as large as real ones: descriptions of 20 kB of HTML in
// several languages, bundles of many components, parents of many children, products in many nodes,
// and a tree of four levels.
func largeShop() string {
	var lines []string
	add := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	const times = `"created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"`
	html := func(of string) string {
		var b strings.Builder
		for b.Len() < 20_000 {
			fmt.Fprintf(&b, `<p class="x">The %s is <em>sturdy</em> &amp; light.</p><ul><li>1</li></ul>\n`, of)
		}
		return strings.ReplaceAll(b.String(), `"`, `\"`)
	}
	text := html("thing")
	texts := map[bool]string{false: "Short.", true: text}
	var locales []string
	for _, tag := range []string{"de", "fr", "es", "it", "pt-BR", "ja"} {
		locales = append(locales, fmt.Sprintf(`%q:{"name":"Thing %s","description":"%s"}`, tag, tag, text))
	}
	product := func(id string, long, translated bool, attributes, relationships string) {
		if translated {
			attributes += `,"locales":{` + strings.Join(locales, ",") + `}`
		}
		if long {
			attributes += `,"custom_inputs":{"engraving":{"name":"Engraving","validation_rules":[{"type":"string","options":{"max_length":50}}]}},"extensions":{"products(care)":{"note":"` + strings.Repeat("Wash cold. ", 60) + `"}}`
		}
		add(`{"type":"product","id":%q,"attributes":{"name":"Thing %s","sku":%q,"slug":%q,"status":"live","description":"%s",%s,"base_product":false%s},"relationships":{%s}}`,
			id, id, strings.ToUpper(id), id, texts[long], times, attributes, relationships)
		add(`{"type":"product-price","id":"price-%s","attributes":{"sku":%q,"currencies":{"USD":{"amount":129900,"includes_tax":false,"tiers":{"ten":{"minimum_quantity":10,"amount":119900},"all":{"minimum_quantity":100,"amount":109900}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}`, id, strings.ToUpper(id))
		add(`{"type":"stock","id":%q,"available":5,"allocated":1,"total":6,%s}`, id, times)
	}
	links := func(kind, format string, from, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"type":%q,"id":%q}`, kind, fmt.Sprintf(format, from+i))
		}
		return strings.Join(list, ",")
	}
	for i := range 60 {
		add(`{"type":"file","id":"file-%02d","file_name":"image-%02d.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/images/%02d.jpg"},"meta":{"timestamps":{"created_at":"2024-01-01T00:00:00.000Z"}}}`, i, i, i)
	}
	tags := func(i int) string {
		list := make([]string, 12)
		for k := range list {
			list[k] = fmt.Sprintf("%q", fmt.Sprintf("tag %d", (i*7+k*13)%160))
		}
		return `,"tags":[` + strings.Join(list, ",") + `],"product_types":["standard"]`
	}
	files := func(i int) string {
		return fmt.Sprintf(`"main_image":{"data":{"type":"main_image","id":"file-%02d"}},"files":{"data":[%s]}`, i%60, links("file", "file-%02d", i%40, 20))
	}
	for i := range 120 {
		product(fmt.Sprintf("thing-%03d", i), true, i%2 == 0, tags(i), files(i))
	}
	for i := range 20 {
		var components []string
		for k := range 10 {
			components = append(components, fmt.Sprintf(`"c%d":{"name":"Part %d","min":1,"max":1,"sort_order":%d,"options":[{"id":"thing-%03d","type":"product","quantity":1},{"id":"thing-%03d","type":"product","quantity":2}]}`, k, k, k, (i+k)%120, (i+k+60)%120))
		}
		product(fmt.Sprintf("bundle-%02d", i), i%2 == 0, false, tags(i)+`,"components":{`+strings.Join(components, ",")+`}`, files(i))
	}
	for i := range 10 {
		parent := fmt.Sprintf("parent-%02d", i)
		var options []string
		for k := range 40 {
			options = append(options, fmt.Sprintf(`{"id":"size-%d","name":"Size %d","sort_order":%d}`, k, k, k))
		}
		product(parent, true, true, tags(i)+`,"variations":[{"id":"size","name":"Size","sort_order":1,"options":[`+strings.Join(options, ",")+`]}]`, files(i))
		for k := range 40 {
			child := fmt.Sprintf("%s-%02d", parent, k)
			product(child, k%4 == 0, false, tags(k)+fmt.Sprintf(`,"base_product_id":%q,"options":["size-%d"]`, parent, k), fmt.Sprintf(`"parent":{"data":{"type":"product","id":%q}},%s`, parent, files(i)))
		}
	}
	node := func(id, parent string, products string) {
		if parent != "" {
			parent = fmt.Sprintf(`"parent":{"data":{"type":"node","id":%q}},`, parent)
		}
		add(`{"type":"node","id":%q,"attributes":{"name":"Shelf %s","description":"%s"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"tree"}},%s"products":{"data":[%s]}}}`,
			id, id, strings.Repeat("All that is on this shelf. ", 20), parent, products)
	}
	add(`{"type":"hierarchy","id":"tree","attributes":{"name":"Tree"}}`)
	for i := range 4 {
		top := fmt.Sprintf("top-%d", i)
		node(top, "", links("product", "thing-%03d", i*20, 60))
		for k := range 7 {
			middle := fmt.Sprintf("%s-%d", top, k)
			node(middle, top, links("product", "thing-%03d", (i*7+k)*2, 50)+","+links("product", "parent-%02d", k, 3))
			for l := range 7 {
				node(fmt.Sprintf("%s-%d", middle, l), middle, links("product", "thing-%03d", (i*49+k*7+l)*7%110, 10)+","+links("product", "bundle-%02d", l, 2))
			}
		}
	}
	add(`{"type":"pricebook","id":"list","attributes":{"name":"List"}}`)
	add(`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["tree"],"pricebook_ids":[{"id":"list","priority":1}],"created_at":"2023-02-01T00:00:00.000Z"}}`)
	return strings.Join(lines, "\n")
}
