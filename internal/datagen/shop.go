// Package datagen generates shops of any size for tests and benchmarks. WriteShop writes one in the import
// format. It must not import the store.
package datagen

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// WriteShop writes a shop with a number of products in the import format. The output is deterministic:
// ids and names depend only on the index of a resource and the seed. Memory does not grow with the number
// of products.
//
// About 3% of the products are drafts, 5% are bundles of three to eight earlier products, 2% are parents
// with three children each, and 10% have texts in French and German. The 40 tags follow a Zipf
// distribution. A third of the products share seven update times. Every product has stock and a price in
// USD, and every second one a price in EUR.
//
// There are two hierarchies. "Departments" has one leaf per 500 products, at most 2,000 leaves, which
// share all products except children. "Collections" has the node "Everything" with the first 60% of the
// products, at most maxNodeProducts, and three smaller nodes. Every node has curated products. One catalog
// contains both hierarchies, and a rule without conditions selects it for all shoppers.
func WriteShop(w io.Writer, products int, seed uint64) error {
	if products < 1 {
		return fmt.Errorf("products must be 1 or more, got %d", products)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	g := &generator{out: out, lines: newEncoder(out), products: products, seed: seed,
		space:  uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "portico:generate:%d", seed)),
		leaves: min(max(1, products/500), 2000)}
	for _, section := range []func(){
		g.files, g.productLines, g.hierarchies, g.departments, g.collections,
		g.pricebook, g.prices, g.catalog, g.stock,
	} {
		section()
	}
	if g.err != nil {
		return g.err
	}
	return g.out.Flush()
}

// generator writes a shop. Its methods without arguments write one section of it each.
type generator struct {
	out      *bufio.Writer
	lines    *json.Encoder // to out
	err      error         // first write error; nothing is written after it
	products int
	seed     uint64
	space    uuid.UUID // UUID namespace of the ids
	leaves   int       // of "Departments"
}

// line writes a resource.
func (g *generator) line(resource any) {
	if g.err == nil {
		g.err = g.lines.Encode(resource)
	}
}

// write writes a part of a line.
func (g *generator) write(text string) {
	if g.err == nil {
		_, g.err = g.out.WriteString(text)
	}
}

// id returns the id of the i-th resource of a kind.
func (g *generator) id(kind string, i int) string {
	return uuid.NewSHA1(g.space, fmt.Appendf(nil, "%s/%d", kind, i)).String()
}

// random returns a new random source for a resource. Sections that pass the same kind and index draw the
// same numbers.
func (g *generator) random(kind uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(g.seed^kind<<56, uint64(i)))
}

// Kinds of random sources.
const (
	randomProduct = iota + 1
	randomText
	randomPrice
	randomStock
	randomFile
)

// Each run of familyEvery products has a parent at index familyParent, followed by its children.
const (
	familyEvery  = 50
	familyParent = 10
	children     = 3 // one for each of the sizes in vocabulary
)

// family returns the index of a child's parent, else -1, and whether the product is a parent.
func (g *generator) family(i int) (parent int, isParent bool) {
	at := i % familyEvery
	whole := i-at+familyParent+children < g.products // the last run may end before its children
	switch {
	case whole && at == familyParent:
		return -1, true
	case whole && at > familyParent && at <= familyParent+children:
		return i - at + familyParent, false
	}
	return -1, false
}

// sharedUpdates is the number of update times that many products share, as after bulk edits.
const sharedUpdates = 7

// blueprint holds the properties of a product that do not depend on a language.
type blueprint struct {
	parent           int // -1 except for a child
	isParent         bool
	draft, bundle    bool
	translated       bool
	created, updated time.Time
}

// blueprint returns the blueprint of a product, the same each time.
func (g *generator) blueprint(i int) blueprint {
	r := g.random(randomProduct, i)
	b := blueprint{draft: r.IntN(100) < 3, bundle: r.IntN(100) < 5 && i >= 10, translated: r.IntN(10) == 0}
	b.parent, b.isParent = g.family(i)
	b.bundle = b.bundle && b.parent < 0 && !b.isParent
	b.created = time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(5*365*24*3600*1000)) * time.Millisecond)
	if r.IntN(3) == 0 {
		b.updated = time.Date(2024, time.Month(1+r.IntN(sharedUpdates)), 1, 3, 0, 0, 0, time.UTC)
	} else {
		b.updated = b.created.Add(time.Duration(r.Int64N(365*24*3600*1000)) * time.Millisecond)
	}
	return b
}

// leaf returns the leaf of a product. Consecutive products go to consecutive leaves, and each round starts
// one leaf later.
func (g *generator) leaf(i int) int { return (i + i/g.leaves) % g.leaves }

// inLeaf yields the products of a leaf, except children.
func (g *generator) inLeaf(leaf int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for round := 0; round*g.leaves < g.products; round++ {
			i := round*g.leaves + ((leaf-round)%g.leaves+g.leaves)%g.leaves
			if i >= g.products {
				continue
			}
			if parent, _ := g.family(i); parent < 0 && !yield(i) {
				return
			}
		}
	}
}

func (g *generator) files() {
	for i := range g.products {
		r := g.random(randomFile, i)
		size := []int{240, 480, 960}[r.IntN(3)]
		f := file{Type: "file", ID: g.id("file", i), FileName: fmt.Sprintf("photo-%06d.jpg", i), MimeType: "image/jpeg", Public: true}
		f.Link.Href = fmt.Sprintf("https://cdn.example/photos/%06d.jpg", i)
		f.Meta.Timestamps.CreatedAt = formatTime(g.blueprint(i).created)
		f.Meta.Dimensions.Width, f.Meta.Dimensions.Height = size, size*3/4
		g.line(f)
	}
}

func (g *generator) productLines() {
	tags := vocabulary("tags")
	for i := range g.products {
		b, r := g.blueprint(i), g.random(randomText, i)
		p := &product{Type: "product", ID: g.id("product", i)}
		a := &p.Attributes
		a.Name, a.Description = g.texts(r, b, i, "en")
		a.SKU, a.Slug = g.sku(i), strings.ToLower(strings.ReplaceAll(a.Name, " ", "-"))+fmt.Sprintf("-%d", i)
		a.Status, a.CommodityType = "live", "physical"
		if b.draft {
			a.Status = "draft"
		}
		a.ManufacturerPartNum = fmt.Sprintf("MPN-%05d", r.IntN(g.products))
		a.UPCEAN = ean(r.IntN(1_000_000_000))
		zipf := rand.NewZipf(r, 1.2, 1, uint64(len(tags)-1))
		for range 1 + r.IntN(5) {
			if tag := tags[zipf.Uint64()]; !slices.Contains(a.Tags, tag) {
				a.Tags = append(a.Tags, tag)
			}
		}
		a.CreatedAt, a.UpdatedAt = formatTime(b.created), formatTime(b.updated)
		if b.translated {
			a.Locales = map[string]textAttributes{}
			for _, tag := range []string{"fr", "de"} {
				name, description := g.texts(g.random(randomText, i), b, i, tag)
				a.Locales[tag] = textAttributes{name, description}
			}
		}
		g.relate(p, b, r, i)
		g.line(p)
	}
}

func (g *generator) sku(i int) string { return fmt.Sprintf("SKU-%07d", i) }

// relate sets the parent, variations, components and files of a product.
func (g *generator) relate(p *product, b blueprint, r *rand.Rand, i int) {
	a, image := &p.Attributes, i
	switch {
	case b.isParent:
		a.BaseProduct, a.ProductTypes = true, []string{"parent"}
		size := variation{ID: g.id("variation", i), Name: "Size"}
		for n, name := range vocabulary("sizes") {
			size.Options = append(size.Options, option{g.id("option", i+1+n), name, "Size " + name, n})
		}
		a.Variations = []variation{size}
	case b.parent >= 0:
		a.BaseProductID, a.ProductTypes = g.id("product", b.parent), []string{"child"}
		a.Options = []string{g.id("option", i)}
		p.Relationships.Parent = &link{ref{"product", a.BaseProductID}}
		image = b.parent
	case b.bundle:
		a.ProductTypes = []string{"bundle"}
		a.Components, p.Relationships.ComponentProducts = map[string]component{}, &links{}
		for n := range 3 + r.IntN(6) {
			id := g.id("product", r.IntN(i))
			a.Components[fmt.Sprintf("part_%d", n+1)] = component{Name: fmt.Sprintf("Part %d", n+1), Min: 1, Max: 1, SortOrder: n,
				Options: []componentOption{{id, "product", 1 + r.IntN(4)}}}
			p.Relationships.ComponentProducts.Data = append(p.Relationships.ComponentProducts.Data, ref{"product", id})
		}
	default:
		a.ProductTypes = []string{"standard"}
	}
	p.Relationships.MainImage = &link{ref{"main_image", g.id("file", image)}}
	p.Relationships.Files = &fileLinks{[]fileLink{{"file", g.id("file", image), a.CreatedAt}}}
	if r.IntN(2) == 0 && i > 0 {
		p.Relationships.Files.Data = append(p.Relationships.Files.Data, fileLink{"file", g.id("file", r.IntN(i)), a.CreatedAt})
	}
}

func (g *generator) pricebook() {
	book := pricebook{Type: "pricebook", ID: g.id("pricebook", 0)}
	book.Attributes.Name = "Retail"
	g.line(book)
}

func (g *generator) prices() {
	for i := range g.products {
		r := g.random(randomPrice, i)
		price := productPrice{Type: "product-price", ID: g.id("price", i)}
		minor := 99 + 100*r.Int64N(1+r.Int64N(2000))
		price.Attributes.SKU = g.sku(i)
		price.Attributes.Currencies = map[string]amount{"USD": {Amount: minor}}
		if i%2 == 0 {
			price.Attributes.Currencies["EUR"] = amount{Amount: minor*9/10 + 9, IncludesTax: true}
		}
		price.Relationships.Pricebook = &link{ref{"pricebook", g.id("pricebook", 0)}}
		g.line(price)
	}
}

// opened is when the shop's categories and catalog were created.
const opened = "2018-01-01T00:00:00.000Z"

func (g *generator) catalog() {
	catalog := catalogResource{Type: "catalog", ID: g.id("catalog", 0)}
	catalog.Attributes.Name = "Web shop"
	catalog.Attributes.Hierarchies = []string{g.id("hierarchy", 0), g.id("hierarchy", 1)}
	catalog.Attributes.PricebookIDs = []pricebookRank{{g.id("pricebook", 0), 1}}
	catalog.Attributes.CreatedAt = opened
	g.line(catalog)
	rule := catalogRule{Type: "catalog_rule", ID: g.id("catalog_rule", 0)}
	rule.Attributes.Name, rule.Attributes.CatalogID = "Everyone", catalog.ID
	rule.Attributes.CreatedAt = catalog.Attributes.CreatedAt
	g.line(rule)
}

func (g *generator) stock() {
	for i := range g.products {
		r, b := g.random(randomStock, i), g.blueprint(i)
		available, allocated := r.IntN(500), max(0, r.IntN(40)-30)
		g.line(stock{Type: "stock", ID: g.id("product", i), Available: available, Allocated: allocated, Total: available + allocated,
			CreatedAt: formatTime(b.created), UpdatedAt: formatTime(b.updated)})
	}
}

// ean returns an EAN-13 for a number of nine digits, with the check digit.
func ean(number int) string {
	digits := fmt.Sprintf("400%09d", number)
	sum := 0
	for i, digit := range digits {
		weight := 1 + 2*(i%2)
		sum += weight * int(digit-'0')
	}
	return digits + strconv.Itoa((10-sum%10)%10)
}
