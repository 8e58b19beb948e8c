package release

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/price"
	"portico/store/release/segment"
)

// storedProduct is a product of a release in one language and currency. The
// cache shares it between requests.
type storedProduct struct {
	id          string
	Ordinal     uint32
	catalog     string   // its id
	since       int64    // published_at, in microseconds
	componentAt []uint32 // StoredProduct.Components
	language    string   // of the texts
	quote       *price.Quote

	body      string // the JSON of a product that is not curated
	insert    int    // where curated_product goes
	relations int    // where relationships begin; 0 for a product of configured, whose refs are decoded from the whole body

	decodeOnce sync.Once
	document   *productDocument // the decoded body
	damage     error

	extraText  string // StoredProduct.Extras
	attributes string // StoredProduct.Attributes

	fileTexts   string // StoredProduct.Files
	filesOnce   sync.Once
	files       []*catalog.File // the parsed fileTexts
	filesDamage error

	refsOnce   sync.Once
	references productRefs
	refsDamage error
}

// Size is the memory of the product with all that is decoded on first use, as GraphQL needs it. Files take
// twice their texts when they are parsed. What a body has more than most is JSON that is decoded into maps
// and slices, such as components and variations.
func (p *storedProduct) Size() int {
	const (
		usualBody = 3000 // bytes
		small     = 640  // id, quote, and slices of texts and references
	)
	return int(unsafe.Sizeof(*p)+unsafe.Sizeof(*p.document)) + small + len(p.body) + max(0, len(p.body)-usualBody) +
		len(p.attributes) + len(p.extraText) + 2*len(p.fileTexts) + 4*len(p.componentAt)
}

// newStoredProduct joins a document with the members that depend on the
// release, the currency and the nodes. All texts of the product are parts of one string, so that they are one allocation.
func newStoredProduct(v *View, stored *segment.StoredProduct, ordinal uint32, quote *price.Quote) (*storedProduct, error) {
	attributes, rest, ok := strings.Cut(stored.Document, "\n")
	if !ok {
		return nil, fmt.Errorf("the document of product %s is damaged", stored.ID)
	}
	p := &storedProduct{id: strings.Clone(stored.ID), Ordinal: ordinal, catalog: v.Release.CatalogID, since: stored.PublishedAt, componentAt: stored.Components, language: stored.Language, quote: quote}
	own := append(make([]byte, 0, 1024), '}') // as before a member; the buffer stays on the stack
	own = store.AppendMember(own, "published_at", store.FormatTimeBare(store.FromMicros(p.since)))
	dated := len(own)
	own = append(quote.AppendAttributes(own), '}')
	priced := len(own)
	own = store.AppendMember(own, "catalog_id", v.Release.CatalogID)
	own = append(quote.AppendMeta(own), "}}"...)
	p.insert = len(attributes) + dated - 1
	p.relations = len(attributes) + priced - 1
	body := len(attributes) + priced - 1 + len(rest) + len(",") + len(stored.Crumbs) + len(own) - priced
	texts := attributes + string(own[1:priced]) + rest + "," + stored.Crumbs + string(own[priced:]) + stored.Files + stored.Attributes + stored.Extras
	p.body, texts = texts[:body], texts[body:]
	p.fileTexts, texts = texts[:len(stored.Files)], texts[len(stored.Files):]
	p.attributes, p.extraText = texts[:len(stored.Attributes)], texts[len(stored.Attributes):]
	return p, nil
}

// read decodes the body on first use.
func (p *storedProduct) read() *productDocument {
	p.decodeOnce.Do(func() {
		if p.document = new(productDocument); !p.document.scan(p.body, p.relations) {
			p.document = new(productDocument)
			p.damage = json.Unmarshal([]byte(p.body), p.document)
		}
		p.document.components = sortComponents(p.document.Attributes.Components)
	})
	p.check(p.damage)
	return p.document
}

// refs decodes the relationships on first use. A page with its includes needs
// nothing else of a body.
func (p *storedProduct) refs() *productRefs {
	p.refsOnce.Do(func() {
		if !p.references.scan(p.body[p.relations:]) {
			p.refsDamage = p.references.decode(p.body)
		}
	})
	p.check(p.refsDamage)
	return &p.references
}

// storedFiles parses the files that are stored with the product on first use. They are those of the
// layer that holds the product.
func (p *storedProduct) storedFiles() []*catalog.File {
	p.filesOnce.Do(func() { p.files, p.filesDamage = segment.ParseFiles(p.fileTexts) })
	p.check(p.filesDamage)
	return p.files
}

// check panics if what the release wrote cannot be decoded: damage is not nil.
func (p *storedProduct) check(damage error) {
	if damage != nil {
		panic(fmt.Sprintf("the document of product %s is damaged: %v", p.id, damage))
	}
}
