package release

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/price"
	"portico/store/release/segment"
)

// storedProduct is a product of a release in one language and currency. The
// cache shares it between requests.
type storedProduct struct {
	id       string
	Ordinal  uint32
	catalog  string // its id
	since    int64  // published_at, in microseconds
	language string // of the texts
	quote    *price.Quote

	body      []byte // the JSON of a product that is not curated
	published int    // where published_at begins; it ends at insert
	insert    int    // where curated_product goes
	relations int    // where relationships begin

	decodeOnce sync.Once
	document   productDocument // the decoded body
	damage     error

	fileTexts   string // StoredProduct.Files
	filesOnce   sync.Once
	files       []*catalog.File // the parsed fileTexts
	filesDamage error

	refsOnce   sync.Once
	references productRefs
	refsDamage error

	shownAs      string // the view's name: languages, locale and currency
	identityOnce sync.Once
	identity     [16]byte

	edgeDigests atomic.Pointer[EdgeDigests] // of the release that showed the product last
}

func (p *storedProduct) Size() int { return 3*len(p.body) + 2*len(p.fileTexts) + 600 }

// newStoredProduct joins a document with the members that depend on the
// release, the currency and the nodes.
func newStoredProduct(v *View, stored *segment.StoredProduct, ordinal uint32, crumbs string, quote *price.Quote) (*storedProduct, error) {
	attributes, rest, ok := strings.Cut(stored.Document, "\n")
	if !ok {
		return nil, fmt.Errorf("the document of product %s is damaged", stored.ID)
	}
	if v.Release.Format < segment.FormatOfPresence {
		attributes, rest = withoutEmpty(attributes, rest)
	}
	p := &storedProduct{id: stored.ID, Ordinal: ordinal, catalog: v.Release.CatalogID, since: stored.PublishedAt, language: stored.Language,
		quote: quote, fileTexts: strings.Clone(stored.Files), shownAs: v.name}
	dst := make([]byte, 0, len(stored.Document)+len(crumbs)+1024) // room for the members below, about 850 bytes with prices
	dst = append(dst, attributes...)
	p.published = len(dst)
	dst = store.AppendMember(dst, "published_at", store.FormatTimeBare(store.FromMicros(p.since)))
	p.insert = len(dst)
	dst = append(quote.AppendAttributes(dst), '}')
	p.relations = len(dst)
	dst = append(dst, rest...)
	dst = append(append(dst, ','), crumbs...)
	dst = store.AppendMember(dst, "catalog_id", v.Release.CatalogID)
	p.body = append(quote.AppendMeta(dst), "}}"...)
	return p, nil
}

// read decodes the body on first use.
func (p *storedProduct) read() *productDocument {
	p.decodeOnce.Do(func() {
		if !p.document.scan(p.body, p.relations) {
			p.document = productDocument{}
			p.damage = json.Unmarshal(p.body, &p.document)
		}
	})
	p.check(p.damage)
	return &p.document
}

// refs decodes the relationships on first use. A page with its includes needs
// nothing else of a body.
func (p *storedProduct) refs() *productRefs {
	p.refsOnce.Do(func() {
		if _, ok := p.references.scan(p.body[p.relations:]); !ok {
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

// check panics if the body, which the release wrote, cannot be decoded.
func (p *storedProduct) check(damage error) {
	if damage != nil {
		panic(fmt.Sprintf("the document of product %s is damaged: %v", p.id, damage))
	}
}

// Identity is a hash of all that the product shows, in whichever release: the
// document, the current prices, the locale, the catalog and the nodes. Products
// with one identity differ in published_at only. ok is false for a product that
// is not of a release.
func (p *storedProduct) Identity() (identity [16]byte, ok bool) {
	if p.shownAs == "" {
		return identity, false
	}
	p.identityOnce.Do(func() {
		h := sha256.New()
		for _, part := range [...]string{p.shownAs, p.language} {
			h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
			h.Write([]byte(part))
		}
		h.Write(p.body[:p.published])
		h.Write(p.body[p.insert:])
		p.identity = [16]byte(h.Sum(nil))
	})
	return p.identity, true
}

// EdgeDigest identifies the rows at an edge of a product in its release.
type EdgeDigest struct {
	Identity [16]byte
	Rows     int
}

// NewEdgeDigest returns the digest of rows, of which content is all that they
// show.
func NewEdgeDigest(content []byte, rows int) *EdgeDigest {
	sum := sha256.Sum256(content)
	return &EdgeDigest{[16]byte(sum[:16]), rows}
}

// EdgeDigests caches the digests of a product's edges in one release: files and
// nodes change without the product.
type EdgeDigests struct {
	release            db.ReleaseIdentity
	Files, Breadcrumbs atomic.Pointer[EdgeDigest]
}

// EdgeDigests returns the product's cache of digests.
func (p *Product) EdgeDigests() *EdgeDigests {
	release := p.release.CacheIdentity()
	digests := p.edgeDigests.Load()
	if digests == nil || digests.release != release {
		digests = &EdgeDigests{release: release}
		p.edgeDigests.Store(digests)
	}
	return digests
}
