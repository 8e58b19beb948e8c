package graphtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
)

// Wholes is the number of products of BigShop that have one of each edge.
const Wholes = 110

// Whole returns the id of such a product.
func Whole(i int) string { return fmt.Sprintf("whole-%03d", i) }

// BigShop returns a generated shop. Its node "wholes" has products with one of each edge, none shared, so
// that a page of one product reads the same edges as a page of a hundred. Dozens of nodes and hierarchies
// have such products.
func BigShop(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, datagen.WriteShop(&b, 300, 1))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var hierarchies []string
	for i := range 12 {
		hierarchies = append(hierarchies, fmt.Sprintf("more-%02d", i))
	}
	for i, line := range lines {
		if strings.HasPrefix(line, `{"type":"catalog",`) {
			lines[i] = strings.Replace(line, `"hierarchies":[`, `"hierarchies":["`+strings.Join(hierarchies, `","`)+`",`, 1)
		}
	}
	add := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	const times = `"created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"`
	product := func(id, attributes, relationships string) {
		add(`{"type":"product","id":%q,"attributes":{"name":%q,"sku":%q,"slug":%q,"status":"live",%s,"base_product":false%s},"relationships":{%s}}`, id, id, id, id, times, attributes, relationships)
	}
	image := func(id string) string {
		add(`{"type":"file","id":%q,"file_name":"a.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/a.jpg"},"meta":{"timestamps":{"created_at":"2024-01-01T00:00:00.000Z"}}}`, id)
		return id
	}
	var attached []string
	for i := range Wholes {
		id := Whole(i)
		files := fmt.Sprintf(`"main_image":{"data":{"type":"main_image","id":%q}},"files":{"data":[{"type":"file","id":%q},{"type":"file","id":%q}]}`, image("main-"+id), image("first-"+id), image("second-"+id))
		product("part-"+id, "", files)
		product("head-"+id, "", "")
		product(id, fmt.Sprintf(`,"base_product_id":"head-%s","components":{"part":{"name":"Part","min":1,"max":1,"sort_order":1,"options":[{"id":"part-%s","type":"product","quantity":1}]}}`, id, id),
			fmt.Sprintf(`"parent":{"data":{"type":"product","id":"head-%s"}},%s`, id, files))
		product("child-"+id, fmt.Sprintf(`,"base_product_id":%q`, id), fmt.Sprintf(`"parent":{"data":{"type":"product","id":%q}},%s`, id, files))
		attached = append(attached, fmt.Sprintf(`{"type":"product","id":%q}`, id))
		for _, id := range []string{id, "part-" + id, "child-" + id} {
			add(`{"type":"stock","id":%q,"available":5,"allocated":1,"total":6,%s}`, id, times)
		}
	}
	node := func(id, hierarchy string, products ...string) {
		add(`{"type":"node","id":%q,"attributes":{"name":%q},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":%q}},"main_image":{"data":{"type":"file","id":%q}},"products":{"data":[%s]}}}`, id, id, hierarchy, image("of-"+id), strings.Join(products, ","))
	}
	for i, hierarchy := range hierarchies {
		add(`{"type":"hierarchy","id":%q,"attributes":{"name":%q}}`, hierarchy, hierarchy)
		node("of-"+hierarchy, hierarchy, attached[i*3:i*3+3]...)
	}
	for i := range 60 {
		shelf := fmt.Sprintf("shelf-%02d", i)
		node(shelf, "more-00", attached[i], attached[i+1])
		add(`{"type":"node","id":"box-%02d","attributes":{"name":"Box %d"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"more-00"}},"parent":{"data":{"type":"node","id":%q}},"products":{"data":[%s]}}}`, i, i, shelf, attached[i])
	}
	node("wholes", "more-00", attached...)
	return strings.Join(lines, "\n")
}

// GeneratedShop returns a generated shop, the same one each time.
func GeneratedShop(t testing.TB, products int) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, datagen.WriteShop(&b, products, 7))
	return b.String()
}
