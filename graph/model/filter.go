package model

import (
	"slices"
	"strconv"
	"time"

	"portico/store"
	"portico/store/release"
	"portico/store/release/segment"
)

// ProductFilter is the schema's filter of products. Its JSON can be sent as a variable.
type ProductFilter struct {
	Search              *string            `json:"search,omitzero"`
	Ids                 []string           `json:"ids,omitzero"`
	Name                *TextFilter        `json:"name,omitzero"`
	Sku                 *TextFilter        `json:"sku,omitzero"`
	Slug                *TextFilter        `json:"slug,omitzero"`
	ManufacturerPartNum *TextFilter        `json:"manufacturerPartNum,omitzero"`
	UpcEan              *TextFilter        `json:"upcEan,omitzero"`
	ProductTypes        *TextFilter        `json:"productTypes,omitzero"`
	Tags                *TextFilter        `json:"tags,omitzero"`
	Price               *PriceBounds       `json:"price,omitzero"`
	Option              []*OptionFilter    `json:"option,omitzero"`
	Attribute           []*AttributeFilter `json:"attribute,omitzero"`
	CatalogNodeIDs      []string           `json:"catalogNodeIds,omitzero"`
	InStock             *bool              `json:"inStock,omitzero"`
	OnSale              *bool              `json:"onSale,omitzero"`
	Bounds              *ListBounds        `json:"bounds,omitzero"`
	And                 []*ProductFilter   `json:"and,omitzero"`
	Or                  []*ProductFilter   `json:"or,omitzero"`
	Not                 *ProductFilter     `json:"not,omitzero"`
}

// CatalogNodeFilter is the schema's filter of nodes and hierarchies.
type CatalogNodeFilter struct {
	Ids      []string    `json:"ids,omitzero"`
	ParentID *string     `json:"parentId,omitzero"`
	Name     *TextFilter `json:"name,omitzero"`
	Slug     *TextFilter `json:"slug,omitzero"`
	Bounds   *ListBounds `json:"bounds,omitzero"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *CatalogNodeFilter) Filter() (filter release.NodeFilter, err error) {
	if f == nil {
		return filter, nil
	}
	if f.Ids != nil {
		filter.IDs = make([]string, len(f.Ids))
		for i, id := range f.Ids {
			filter.IDs[i] = store.LocalID(id)
		}
	}
	if f.ParentID != nil {
		if filter.ParentID = store.LocalID(*f.ParentID); filter.ParentID == "" {
			filter.IDs = []string{} // no node has such a parent
		}
	}
	filter.Ranges = f.Bounds.Ranges()
	for _, text := range []struct {
		attribute string
		filter    *TextFilter
	}{{"name", f.Name}, {"slug", f.Slug}} {
		operator, values := text.filter.condition()
		if operator == "" {
			continue
		}
		term, err := release.NewNodeTerm(text.attribute, operator, values)
		if err != nil {
			return filter, err
		}
		filter.Terms = append(filter.Terms, term)
	}
	return filter, nil
}

// condition returns the operator and its values. The operator is empty for nil.
func (t *TextFilter) condition() (operator string, values []string) {
	switch {
	case t == nil:
		return "", nil
	case t.Eq != nil:
		return "eq", []string{*t.Eq}
	}
	return "in", t.In
}

// TextFilter is a condition on a text: exactly one member.
type TextFilter struct {
	Eq *string  `json:"eq,omitzero"`
	In []string `json:"in,omitzero"`
}

// Values returns the values that a condition allows; nil without a condition.
func (t *TextFilter) Values() []string {
	_, values := t.condition()
	return values
}

// PriceBounds are bounds on the current price, in digits of minor units.
type PriceBounds struct {
	Ge *string `json:"ge,omitzero"`
	Le *string `json:"le,omitzero"`
}

// OptionFilter is a condition on the options of a variation, by their names.
type OptionFilter struct {
	Name string   `json:"name"`
	In   []string `json:"in"`
}

// AttributeFilter is a condition on an attribute of the merchant's own.
type AttributeFilter struct {
	Key string   `json:"key"`
	In  []string `json:"in,omitzero"`
	Ge  *string  `json:"ge,omitzero"`
	Le  *string  `json:"le,omitzero"`
}

// ListBounds are bounds on sort keys.
type ListBounds struct {
	ID        *IDBounds       `json:"id,omitzero"`
	CreatedAt *DateTimeBounds `json:"createdAt,omitzero"`
	UpdatedAt *DateTimeBounds `json:"updatedAt,omitzero"`
}

// IDBounds are bounds on an id.
type IDBounds struct {
	Gt *string `json:"gt,omitzero"`
	Ge *string `json:"ge,omitzero"`
	Lt *string `json:"lt,omitzero"`
	Le *string `json:"le,omitzero"`
}

// DateTimeBounds are bounds on a time.
type DateTimeBounds struct {
	Gt *time.Time `json:"gt,omitzero"`
	Ge *time.Time `json:"ge,omitzero"`
	Lt *time.Time `json:"lt,omitzero"`
	Le *time.Time `json:"le,omitzero"`
}

// IntBounds are bounds on a number.
type IntBounds struct {
	Gt *int `json:"gt,omitzero"`
	Ge *int `json:"ge,omitzero"`
	Lt *int `json:"lt,omitzero"`
	Le *int `json:"le,omitzero"`
}

// Ranges converts the bounds for the store.
func (b *IntBounds) Ranges(attribute store.SortBy) (ranges []store.Range) {
	if b == nil {
		return nil
	}
	for operator, number := range b.all {
		ranges = append(ranges, store.Range{Attribute: attribute, Operator: operator, Number: *number})
	}
	return ranges
}

// all yields the bounds that are set, with their operators.
func (b *IntBounds) all(yield func(string, *int) bool) {
	bounds(yield, b.Gt, b.Ge, b.Lt, b.Le)
}

// Add sets a bound. It returns false if the bound is set already.
func (b *IntBounds) Add(operator string, number int) bool {
	return setBound(operator, number, &b.Gt, &b.Ge, &b.Lt, &b.Le)
}

// ListOrder is the sort order of a list.
type ListOrder struct {
	Field     store.SortBy   `json:"field"`
	Direction OrderDirection `json:"direction"`
	Attribute *string        `json:"attribute,omitzero"` // its key, if Field is store.SortAttribute
}

// OrderDirection is the sort direction.
type OrderDirection string

// The directions.
const (
	Ascending  OrderDirection = "ASC"
	Descending OrderDirection = "DESC"
)

// Sort converts the order for the store. Nil is the list's default.
func (o *ListOrder) Sort() store.Sort {
	if o == nil {
		return store.Sort{}
	}
	by := o.Field
	if by == store.SortAttribute {
		key := ""
		if o.Attribute != nil {
			key = *o.Attribute
		}
		by = segment.SortOfAttribute(key)
	}
	return store.Sort{By: by, Descending: o.Direction == Descending}
}

// Filter converts the filter for the store. Nil matches everything. Its own conditions come first, then those of and, or and not,
// whose errors have the path of the filter within this one.
func (f *ProductFilter) Filter() (filter release.ProductFilter, err error) {
	if f == nil {
		return filter, nil
	}
	if f.Ids != nil {
		if err := addTerm(&filter, "id", "in", store.LocalIDs(f.Ids)); err != nil {
			return filter, err
		}
	}
	for attribute, text := range f.texts {
		operator, values := text.condition()
		if operator == "" {
			continue
		}
		if err := addTerm(&filter, attribute, operator, values); err != nil {
			return filter, err
		}
	}
	if f.Search != nil {
		search, err := release.NewSearch(*f.Search)
		if err != nil {
			return filter, err
		}
		if !search.Empty() {
			filter.Searches = append(filter.Searches, search)
		}
	}
	if err := f.addListed(&filter); err != nil {
		return filter, err
	}
	filter.Ranges, filter.InStock = f.Bounds.Ranges(), f.InStock
	for i, further := range f.And {
		more, err := further.Filter()
		if err != nil {
			return filter, within(err, "and", strconv.Itoa(i))
		}
		if filter.InStock, err = sameStock(filter.InStock, more.InStock); err != nil {
			return filter, within(err, "and", strconv.Itoa(i))
		}
		filter.Terms, filter.Ranges, filter.Searches = append(filter.Terms, more.Terms...), append(filter.Ranges, more.Ranges...), append(filter.Searches, more.Searches...)
		filter.Keys, filter.Attributes = append(filter.Keys, more.Keys...), append(filter.Attributes, more.Attributes...)
		filter.AnyOf = append(filter.AnyOf, more.AnyOf...)
	}
	return filter, f.addAnyOf(&filter)
}

// addAnyOf adds the conditions or and not.
func (f *ProductFilter) addAnyOf(filter *release.ProductFilter) error {
	if f.Or != nil {
		filters := make([]release.ProductFilter, len(f.Or))
		for i, own := range f.Or {
			var err error
			if filters[i], err = own.Filter(); err != nil {
				return within(err, "or", strconv.Itoa(i))
			}
		}
		or, err := release.NewAnyOf(filters)
		if err != nil {
			return err
		}
		filter.AnyOf = append(filter.AnyOf, or)
	}
	if f.Not == nil {
		return nil
	}
	own, err := f.Not.Filter()
	if err != nil {
		return within(err, "not")
	}
	not, err := release.NewNot(own)
	filter.AnyOf = append(filter.AnyOf, not)
	return err
}

// sameStock returns the condition on stock of two filters. INVALID if they contradict each other.
func sameStock(a, b *bool) (*bool, error) {
	switch {
	case a == nil:
		return b, nil
	case b != nil && *a != *b:
		return nil, &store.Error{Code: store.Invalid, Path: []string{"filter", "in_stock"}, Detail: "is true and false at once, which no product is. Give it once."}
	}
	return a, nil
}

// addListed adds the conditions on price, sales, options, attributes and nodes.
func (f *ProductFilter) addListed(filter *release.ProductFilter) error {
	if p := f.Price; p != nil && (p.Ge != nil || p.Le != nil) {
		keys, err := release.NewPriceRange(p.Ge, p.Le)
		if err != nil {
			return err
		}
		filter.Keys = append(filter.Keys, keys)
	}
	if f.OnSale != nil {
		filter.Terms = append(filter.Terms, release.NewSaleTerm(*f.OnSale))
	}
	for _, o := range f.Option {
		term, err := release.NewOptionTerm(o.Name, o.In)
		if err != nil {
			return err
		}
		filter.Terms = append(filter.Terms, term)
	}
	for _, a := range f.Attribute {
		condition, err := release.NewAttributeCondition(a.Key, a.In, a.Ge, a.Le)
		if err != nil {
			return err
		}
		filter.Attributes = append(filter.Attributes, condition)
	}
	if f.CatalogNodeIDs == nil {
		return nil
	}
	term, err := release.NewWithinTerm(store.LocalIDs(f.CatalogNodeIDs))
	filter.Terms = append(filter.Terms, term)
	return err
}

// within adds the member and the index of a filter within another to the path of an error.
func within(err error, path ...string) error {
	first := *store.AsErrors(err)[0]
	first.Path = slices.Insert(slices.Clone(first.Path), min(1, len(first.Path)), path...) // after "filter"
	return &first
}

// text returns the condition on an attribute other than id, or nil for an unknown one.
func (f *ProductFilter) text(attribute string) **TextFilter {
	switch attribute {
	case "name":
		return &f.Name
	case "sku":
		return &f.Sku
	case "slug":
		return &f.Slug
	case "manufacturer_part_num":
		return &f.ManufacturerPartNum
	case "upc_ean":
		return &f.UpcEan
	case "product_types":
		return &f.ProductTypes
	case "tags":
		return &f.Tags
	}
	return nil
}

// SetText sets the condition on one of release.FilterAttributes except id.
func (f *ProductFilter) SetText(attribute string, to *TextFilter) { *f.text(attribute) = to }

// texts yields the text conditions by attribute.
func (f *ProductFilter) texts(yield func(string, *TextFilter) bool) {
	for _, attribute := range release.FilterAttributes() {
		if attribute != "id" && !yield(attribute, *f.text(attribute)) {
			return
		}
	}
}

// addTerm adds a condition on an attribute to a filter.
func addTerm(filter *release.ProductFilter, attribute, operator string, values []string) error {
	term, err := release.NewTerm(attribute, operator, values)
	filter.Terms = append(filter.Terms, term)
	return err
}

// Ranges converts the bounds for the store.
func (b *ListBounds) Ranges() (ranges []store.Range) {
	if b == nil {
		return nil
	}
	if b.ID != nil {
		for operator, id := range b.ID.all {
			ranges = append(ranges, store.Range{Attribute: store.SortID, Operator: operator, ID: store.LocalID(*id)})
		}
	}
	ranges = append(ranges, b.CreatedAt.ranges(store.SortCreatedAt)...)
	return append(ranges, b.UpdatedAt.ranges(store.SortUpdatedAt)...)
}

// ranges returns the bounds as ranges of an attribute; none for nil bounds.
func (b *DateTimeBounds) ranges(attribute store.SortBy) (ranges []store.Range) {
	if b == nil {
		return nil
	}
	for operator, at := range b.all {
		ranges = append(ranges, store.Range{Attribute: attribute, Operator: operator, Time: *at})
	}
	return ranges
}

// Add sets a bound on the id, the time of creation or, for any other attribute, of the last change. It returns false if the bound is
// set already.
func (b *ListBounds) Add(r store.Range) bool {
	switch r.Attribute {
	case store.SortID:
		b.ID = orNew(b.ID)
		return setBound(r.Operator, r.ID, &b.ID.Gt, &b.ID.Ge, &b.ID.Lt, &b.ID.Le)
	case store.SortCreatedAt:
		b.CreatedAt = orNew(b.CreatedAt)
		return setBound(r.Operator, r.Time, &b.CreatedAt.Gt, &b.CreatedAt.Ge, &b.CreatedAt.Lt, &b.CreatedAt.Le)
	}
	b.UpdatedAt = orNew(b.UpdatedAt)
	return setBound(r.Operator, r.Time, &b.UpdatedAt.Gt, &b.UpdatedAt.Ge, &b.UpdatedAt.Lt, &b.UpdatedAt.Le)
}

// orNew returns p, or a new zero value for nil.
func orNew[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

// setBound sets the bound of an operator, gt, ge, lt or le. It returns false if the bound is set already.
func setBound[T any](operator string, value T, gt, ge, lt, le **T) bool {
	place := map[string]**T{"gt": gt, "ge": ge, "lt": lt, "le": le}[operator]
	if *place != nil {
		return false
	}
	*place = &value
	return true
}

func (b *IDBounds) all(yield func(string, *string) bool) {
	bounds(yield, b.Gt, b.Ge, b.Lt, b.Le)
}

func (b *DateTimeBounds) all(yield func(string, *time.Time) bool) {
	bounds(yield, b.Gt, b.Ge, b.Lt, b.Le)
}

// bounds yields the bounds that are set, with their operators.
func bounds[T any](yield func(string, *T) bool, gt, ge, lt, le *T) {
	for i, bound := range []*T{gt, ge, lt, le} {
		if bound != nil && !yield([]string{"gt", "ge", "lt", "le"}[i], bound) {
			return
		}
	}
}
