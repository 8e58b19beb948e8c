package release

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
)

// Product is a released product as a view shows it. All but Curated is shared
// between requests and must not be changed.
type Product struct {
	*released
	Curated bool // curated in the node it was listed for
}

// released is a product of a release in one language and currency.
type released struct {
	id       string
	Ordinal  uint32
	release  *Release
	language string // of the texts
	*pricing

	body      []byte // the contract's shape, whole, for a product that is not curated
	published int    // where published_at begins, which ends at insert
	insert    int    // where curated_product goes
	relations int    // where relationships begin
	referred  refs

	once     sync.Once
	document productDocument // what the body says, once it was asked for
	damage   error

	shownAs  string // the languages looked for, how amounts are written, and the currency
	named    sync.Once
	identity [16]byte

	edgeDigests EdgeDigests
}

func (r *released) Size() int { return 3*len(r.body) + 600 }

// NamedProduct is a product of which nothing is known but its id, for what is
// live and found by that, such as its stock.
func NamedProduct(id string) *Product { return &Product{released: &released{id: id}} }

// NamedProductBytes is what such a product takes in memory, beside its id.
const NamedProductBytes = int(unsafe.Sizeof(Product{}) + unsafe.Sizeof(released{}))

const curatedMember = `,"curated_product":true`

// GlobalID is the product's id over all types.
func (p *Product) GlobalID() string { return store.GlobalID(store.TypeProduct, p.id) }

// AppendJSON appends the product in the contract's shape.
func (p *Product) AppendJSON(dst []byte) []byte {
	if !p.Curated {
		return append(dst, p.body...)
	}
	dst = append(dst, p.body[:p.insert]...)
	dst = append(dst, curatedMember...)
	return append(dst, p.body[p.insert:]...)
}

// JSONSize is how much AppendJSON appends, in bytes.
func (p *Product) JSONSize() int {
	if p.Curated {
		return len(p.body) + len(curatedMember)
	}
	return len(p.body)
}

// assemble joins a document with the members that depend on the release, the
// currency and the nodes.
func (r *released) assemble(document, crumbs string, v *View) error {
	attributes, rest, ok := strings.Cut(document, "\n")
	if !ok {
		return fmt.Errorf("the document of the product %s is damaged", r.id)
	}
	if v.Release.Format < formatOfPresence {
		attributes, rest = withoutEmpty(attributes, rest)
	}
	dst := make([]byte, 0, len(document)+len(crumbs)+640)
	dst = append(dst, attributes...)
	r.published, r.shownAs = len(dst), v.name
	dst = store.AppendMember(dst, "published_at", store.FormatTimeBare(v.Release.PublishedAt))
	r.insert = len(dst)
	dst = append(r.pricing.appendAttributes(dst), '}')
	r.relations = len(dst)
	dst = append(dst, rest...)
	dst = append(append(dst, ','), crumbs...)
	dst = store.AppendMember(dst, "catalog_id", v.Release.CatalogID)
	r.body = append(r.pricing.appendMeta(dst), "}}"...)
	return nil
}

// read decodes the body on first use.
func (r *released) read() *productDocument {
	r.once.Do(func() {
		if !r.document.scan(r.body, r.relations) {
			r.document = productDocument{}
			r.damage = json.Unmarshal(r.body, &r.document)
		}
	})
	r.sound(r.damage)
	return &r.document
}

// sound panics where the body cannot be read: one that was damaged in the
// database is nothing a reader can go on with.
func (r *released) sound(damage error) {
	if damage != nil {
		panic(fmt.Sprintf("the document of the product %s is damaged: %v", r.id, damage))
	}
}

// The typed members, as the contract's Catalog product has them. A text that
// is not set is empty, a time is UTC.

func (r *released) ID() string                    { return r.id }
func (r *released) Name() string                  { return r.read().Attributes.Name }
func (r *released) Description() string           { return r.read().Attributes.Description }
func (r *released) SKU() string                   { return r.read().Attributes.SKU }
func (r *released) Slug() string                  { return r.read().Attributes.Slug }
func (r *released) Status() string                { return r.read().Attributes.Status }
func (r *released) CommodityType() string         { return r.read().Attributes.CommodityType }
func (r *released) UPCEAN() string                { return r.read().Attributes.UPCEAN }
func (r *released) ManufacturerPartNum() string   { return r.read().Attributes.ManufacturerPartNum }
func (r *released) ExternalRef() string           { return r.read().Attributes.ExternalRef }
func (r *released) Tags() []string                { return r.read().Attributes.Tags }
func (r *released) PriceModifiers() []string      { return r.read().Attributes.PriceModifiers }
func (r *released) BaseProduct() bool             { return r.read().Attributes.BaseProduct }
func (r *released) BaseProductID() *string        { return set(r.read().Attributes.BaseProductID) }
func (r *released) CreatedAt() time.Time          { return time.Time(r.read().Attributes.CreatedAt) }
func (r *released) UpdatedAt() time.Time          { return time.Time(r.read().Attributes.UpdatedAt) }
func (r *released) PublishedAt() time.Time        { return r.release.PublishedAt }
func (r *released) CustomInputs() json.RawMessage { return r.read().Attributes.CustomInputs }
func (r *released) Extensions() json.RawMessage   { return r.read().Attributes.Extensions }
func (r *released) ShopperAttributes() json.RawMessage {
	return r.read().Attributes.ShopperAttributes
}
func (r *released) ProductTypes() []string      { return r.read().Meta.ProductTypes }
func (r *released) Language() string            { return r.language }
func (r *released) CatalogID() string           { return r.release.CatalogID }
func (r *released) Price() *Price               { return r.price }
func (r *released) DisplayPrice() *DisplayPrice { return r.display }

func (r *released) CatalogSource() string { return "pim" }
func (r *released) PricebookID() *string {
	if r.price == nil {
		return nil
	}
	return &r.price.PricebookID
}

func (r *released) OriginalPrice() *Price               { return r.original }
func (r *released) OriginalDisplayPrice() *DisplayPrice { return r.originalDisplay }
func (r *released) SaleID() *string                     { return set(r.saleID) }
func (r *released) SaleExpires() *time.Time             { return r.expires() }
func (r *released) Tiers() []PriceTier                  { return r.tiers }
func (r *released) BundleConfiguration() BundleConfiguration {
	return r.read().Meta.BundleConfiguration
}
func (r *released) Variations() []catalog.Variation      { return r.read().Meta.Variations }
func (r *released) ChildVariations() []catalog.Variation { return r.read().Meta.ChildVariations }
func (r *released) VariationMatrix() json.RawMessage     { return r.read().Meta.VariationMatrix }
func (r *released) ChildOptionIDs() [][]string           { return r.read().Meta.ChildOptionIDs }

// set is a text, or nil where there is none.
func set(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Components are a bundle's parts by sort order, then key.
func (r *released) Components() []ProductComponent {
	components := r.read().Attributes.Components
	list := make([]ProductComponent, 0, len(components))
	for _, key := range (&catalog.ProductAttributes{Components: components}).ComponentKeys() {
		list = append(list, ProductComponent{key, components[key]})
	}
	return list
}

// ProductComponent is a component with its key.
type ProductComponent struct {
	Key string
	catalog.Component
}

// ProductsByID returns several products of the catalog; one that is not in it
// is left out.
func (v *View) ProductsByID(ctx context.Context, ids []string) (map[string]*Product, error) {
	places, err := v.PlacesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	found, err := v.ProductsAt(ctx, Ordered(places))
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Product, len(found))
	for _, product := range found {
		byID[product.id] = &Product{released: product}
	}
	return byID, nil
}

// PlacesByID returns where products stand in the release.
func (v *View) PlacesByID(ctx context.Context, ids []string) (map[string]Place, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedPlace}
	return db.Fetch(v.Cache, key, store.ValidIDs(ids), func(ids []string) (map[string]Place, error) {
		dead, err := v.Dead(ctx)
		if err != nil {
			return nil, err
		}
		places := make(map[string]Place, len(ids))
		list, args := db.InList(v.Layers(), ids)
		_, err = db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (at Place, err error) {
			var id string
			err = rows.Scan(&id, &at)
			if _, isDead := slices.BinarySearch(dead, uint32(at)); !isDead {
				places[id] = at
			}
			return at, err
		}, `SELECT product_id, ordinal FROM release_place WHERE release_id IN ($1, $2) AND product_id IN (`+list+`)`, args...)
		return places, err
	})
}

// Ordered are the places in the order of the release.
func Ordered(places map[string]Place) index.Ordinals {
	list := make(index.Ordinals, 0, len(places))
	for _, at := range places {
		list = append(list, uint32(at))
	}
	slices.Sort(list)
	return list
}

// Place is where a product stands in the release.
type Place uint32

func (Place) Size() int { return 8 }

// ProductKey names one product, by exactly one of its members.
type ProductKey struct{ ID, SKU, Slug string }

// Product returns one product of the catalog, listed or not; NOT_FOUND when
// it has none. Of several with one SKU or slug it is the one updated last.
func (v *View) Product(ctx context.Context, key ProductKey) (*Product, error) {
	var places index.Ordinals
	var err error
	switch {
	case key.ID != "":
		var byID map[string]Place
		byID, err = v.PlacesByID(ctx, []string{key.ID})
		places = Ordered(byID)
	case key.SKU != "":
		places, err = v.Indexed(ctx, "sku", key.SKU)
	default:
		places, err = v.Indexed(ctx, "slug", key.Slug)
	}
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		return nil, store.NotFoundf(nil, "There is no such product in this catalog.")
	}
	if places, err = v.byUpdate(ctx, places); err != nil {
		return nil, err
	}
	found, err := v.ProductsAt(ctx, places[:1])
	if err != nil {
		return nil, err
	}
	return &Product{released: found[0]}, nil
}
