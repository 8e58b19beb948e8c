package model

import (
	"portico/store"
	"portico/store/cart"
	"portico/store/release"
)

// CartPreview is a preview with its lines as rows.
type CartPreview struct {
	*cart.Preview
	Lines []*CartLine
}

// NextPromotion returns what a larger cart would get; nil for none.
func (p *CartPreview) NextPromotion() *cart.NextPromotion { return p.Next }

// CartLine is a line of a cart. Product is a row of the products of all lines; nil if it is unknown.
type CartLine struct {
	*cart.Line
	Product *Product
}

// ProductGlobalID returns the product's id that is unique across types.
func (l *CartLine) ProductGlobalID() string { return store.GlobalID(store.TypeProduct, l.ProductID) }

// NewCartPreview returns the rows of a preview.
func NewCartPreview(p *cart.Preview) *CartPreview {
	made := &CartPreview{Preview: p, Lines: make([]*CartLine, len(p.Lines))}
	var known []*release.Product
	for i := range p.Lines {
		made.Lines[i] = &CartLine{Line: &p.Lines[i]}
		if p.Lines[i].Product != nil {
			known = append(known, p.Lines[i].Product)
		}
	}
	rows := NewBatch[Product](known)
	for _, line := range made.Lines {
		if line.Line.Product != nil {
			line.Product, rows = rows[0], rows[1:]
		}
	}
	return made
}
