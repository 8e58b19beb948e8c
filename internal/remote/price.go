package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// wireTier is the price from a quantity on.
type wireTier struct {
	MinimumQuantity int                   `json:"minimum_quantity"`
	Price           map[string]wireAmount `json:"price"` // by currency
}

// The types up to priceLinks are the members of a price in the import format.

type amount struct {
	Amount      int64           `json:"amount"`
	IncludesTax bool            `json:"includes_tax"`
	Tiers       map[string]tier `json:"tiers,omitempty"`
}

type tier struct {
	MinimumQuantity int   `json:"minimum_quantity"`
	Amount          int64 `json:"amount"`
}

type priceAttributes struct {
	SKU        string            `json:"sku"`
	Currencies map[string]amount `json:"currencies,omitempty"`
	Sales      map[string]*sale  `json:"sales,omitempty"`
}

type sale struct {
	Schedule   *schedule         `json:"schedule,omitempty"`
	Currencies map[string]amount `json:"currencies"`
}

type schedule struct {
	ValidTo string `json:"valid_to"`
}

type priceLinks struct {
	Pricebook *refLink `json:"pricebook"`
}

// pricebookOf returns the id of the price book that a product's price is from. Some servers leave it out: then the
// catalog gets a price book of its own, whose id is "prices" without a channel and tags.
func (f *fetcher) pricebookOf(p *wireProduct) string {
	switch {
	case p.Meta.PricebookID != "":
		return p.Meta.PricebookID
	case len(f.shopper) > 0:
		return derivedID("prices", f.folder.state.Shop.CatalogID)
	}
	return "prices"
}

// bookPrices are the prices of a product by price book.
type bookPrices map[string]*priceAttributes

// maxNames is the most price books, and price modifiers, that the state of a fetch holds.
const maxNames = 1000

// add adds the price that a product shows in a wanted currency to a book, or in all currencies if none is wanted. During a sale
// the price is that of the sale, and original_price is that of the book, without tiers.
func (found bookPrices) add(book string, p *wireProduct, wanted string) {
	for _, currency := range slices.Sorted(maps.Keys(p.Attributes.Price)) {
		if wanted != "" && currency != wanted {
			continue // the sale may be another one in that currency
		}
		if found[book] == nil {
			found[book] = &priceAttributes{Currencies: map[string]amount{}, Sales: map[string]*sale{}}
		}
		shown := p.Attributes.Price[currency]
		now := amount{Amount: shown.Amount, IncludesTax: shown.IncludesTax, Tiers: map[string]tier{}}
		for name, t := range p.Attributes.Tiers {
			if price, ok := t.Price[currency]; ok {
				now.Tiers[name] = tier{t.MinimumQuantity, price.Amount}
			}
		}
		if p.Meta.SaleID == "" {
			found[book].Currencies[currency] = now
			continue
		}
		if original, ok := p.Meta.OriginalPrice[currency]; ok {
			found[book].Currencies[currency] = amount{Amount: original.Amount, IncludesTax: original.IncludesTax}
		}
		if found[book].Sales[p.Meta.SaleID] == nil {
			found[book].Sales[p.Meta.SaleID] = &sale{Currencies: map[string]amount{}}
		}
		s := found[book].Sales[p.Meta.SaleID]
		s.Currencies[currency] = now
		if end := utc(p.Meta.SaleExpires); end != "" {
			s.Schedule = &schedule{end}
		}
	}
}

// pricesOf returns the prices of products by id, in all currencies: the products show the first one, and requests the others.
func (f *fetcher) pricesOf(ctx context.Context, products []*wireProduct, ids []string) (map[string]bookPrices, error) {
	s := &f.folder.state.Shop
	found := map[string]bookPrices{}
	for _, product := range products {
		found[product.ID] = bookPrices{}
		found[product.ID].add(f.pricebookOf(product), product, s.Currency)
	}
	for _, currency := range s.OtherCurrencies {
		if err := f.readByID(ctx, productsPath, ids, s.Language, currency, func(raw json.RawMessage) error {
			other := &wireProduct{}
			err := decodeRow("product", raw, other)
			if found[other.ID] != nil && err == nil {
				found[other.ID].add(f.pricebookOf(other), other, currency)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// writePrices writes the prices of a product, one line for each price book. It counts the prices of each book, and sales.
func (f *fetcher) writePrices(p *wireProduct, found bookPrices) error {
	state := &f.folder.state
	for _, book := range slices.Sorted(maps.Keys(found)) {
		state.Pricebooks[book]++
		if len(state.Pricebooks) > maxNames {
			return fmt.Errorf("the prices name more than %d price books. Is the server one of a commerce service?", maxNames)
		}
		attributes := *found[book]
		state.Counts["sales"] += len(attributes.Sales)
		attributes.SKU = cmp.Or(p.Attributes.SKU, p.ID) // as skuOf, which counts
		l := importLine[priceAttributes, priceLinks]{Type: "product-price", ID: derivedID(book, p.ID), Attributes: attributes, Relationships: priceLinks{linkTo("pricebook", book)}}
		if err := f.folder.write("prices", l); err != nil {
			return err
		}
	}
	return nil
}

// noteModifiers keeps the price modifiers that a product shows in the state, for writeModifiers. The prices shown have them already.
// An import does not apply them again: they change only a price that a child inherits, and each child that shows a price gets its
// own. They are moved because products name them in price_modifiers.
func (f *fetcher) noteModifiers(p *wireProduct) error {
	known := f.folder.state.Modifiers
	for name, m := range p.Meta.PriceModifiers {
		known[name] = &m
		if len(known) > maxNames {
			return fmt.Errorf("the products have more than %d price modifiers. Is the server one of a commerce service?", maxNames)
		}
	}
	return nil
}

// modifierAttributes is a price modifier in the import format.
type modifierAttributes struct {
	Name string `json:"name"`
	modifier
}

// writeModifiers writes the price modifiers of the state. writeCatalog calls it.
func (f *fetcher) writeModifiers() error {
	modifiers := f.folder.state.Modifiers
	for _, name := range slices.Sorted(maps.Keys(modifiers)) {
		l := importLine[modifierAttributes, none]{Type: "price_modifier", ID: derivedID("modifier", name), Attributes: modifierAttributes{name, *modifiers[name]}}
		if err := f.folder.write("catalog", l); err != nil {
			return err
		}
	}
	return nil
}
