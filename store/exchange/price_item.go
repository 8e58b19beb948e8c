package exchange

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
	"portico/store/promotion/rule"
)

// PriceItemInput is the price of a SKU in a price book, in pricesUpsert. Amounts change the currencies that
// they name.
type PriceItemInput struct {
	ID               *string             `json:"id,omitempty"`
	PricebookID      string              `json:"pricebookId"`
	SKU              string              `json:"sku"`
	Amounts          []*PriceAmountInput `json:"amounts,omitzero"`
	RemoveCurrencies []string            `json:"removeCurrencies,omitzero"`
}

// PriceAmountInput is an amount in a currency. It replaces the stored one with its tiers.
type PriceAmountInput struct {
	Money       rule.AmountInput  `json:"money"`
	IncludesTax *bool             `json:"includesTax"` // nil for that of the stored amount, or null, which is false
	Tiers       []*PriceTierInput `json:"tiers,omitzero"`
}

// PriceTierInput is the amount of each unit from a quantity on, in the currency of the amount that it is a tier of.
type PriceTierInput struct {
	Name            *string          `json:"name,omitempty"`
	MinimumQuantity int              `json:"minimumQuantity"`
	Money           rule.AmountInput `json:"money"`
}

// key returns the currency, by which the line has the amount.
func (a *PriceAmountInput) key() string { return a.Money.Currency }

// key returns the name of the tier in the line.
func (t *PriceTierInput) key() string {
	if t.Name != nil {
		return *t.Name
	}
	return "from_" + strconv.Itoa(t.MinimumQuantity)
}

// SaleItemInput is a sale of a SKU in a price book, in salesUpsert.
type SaleItemInput struct {
	PricebookID      string              `json:"pricebookId"`
	SKU              string              `json:"sku"`
	Name             string              `json:"name"`
	ValidFrom        *time.Time          `json:"validFrom,omitempty"`
	ValidTo          *time.Time          `json:"validTo,omitempty"`
	Amounts          []*PriceAmountInput `json:"amounts,omitzero"`
	RemoveCurrencies []string            `json:"removeCurrencies,omitzero"`
	Remove           bool                `json:"remove"`
}

// UpsertPrices creates prices and changes existing ones, all or none. An item without an id is the price of
// its SKU in its price book. nulls are the paths of members to clear: items.0.amounts removes all amounts.
func (s *Service) UpsertPrices(ctx context.Context, actor store.Actor, items []*PriceItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.PriceKind, count: len(items),
		identify: func(ctx context.Context, in db.Session) ([]string, store.Errors, error) {
			return identifyPrices(ctx, in, len(items), func(i int) priceName { return items[i].priceName() })
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		place: func(places []int, path []string) []string {
			return inItem(places, amountPath(path, items[places[0]].Amounts))
		},
		mistakes: secondPrices,
	}, dryRun)
}

// secondPrices warns of prices beside which another one of their SKU is in their price book: in the store, or of an
// item before. beside has the smallest id of such a price, by SKU and price book.
func secondPrices(ctx context.Context, in db.Session, batch []check.Line) (list []check.ImportError, err error) {
	keys, own := make([]sheet.Key, len(batch)), map[string]bool{}
	for i, d := range batch {
		price := d.Source.(*catalog.PriceSource)
		keys[i] = sheet.Key{Kind: "product-price", In: price.Relationships.Pricebook.ID(), Value: price.Attributes.SKU}
		own[price.ID] = true
	}
	stored, err := storedByKey(ctx, in, store.Unique(keys))
	beside := map[sheet.Key]string{}
	for key, ids := range stored {
		for _, id := range ids {
			if !own[id] && beside[key] == "" {
				beside[key] = id
			}
		}
	}
	for i, d := range batch {
		key, id := keys[i], d.Source.Key()
		if beside[key] == "" {
			beside[key] = id
			continue
		}
		list = append(list, check.ImportError{Line: d.Number, Type: d.Kind, Err: store.Invalidf([]string{"attributes", "sku"},
			"has a second price by this item, beside %q in the price book %q; shoppers see that of the smallest id, %q; delete one with pricesDelete", beside[key], key.In, min(beside[key], id))})
		beside[key] = min(beside[key], id)
	}
	return list, err
}

// UpsertSales creates, changes and removes sales of prices, all or none. Other sales stay.
func (s *Service) UpsertSales(ctx context.Context, actor store.Actor, items []*SaleItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.PriceKind, count: len(items), shared: true,
		identify: func(ctx context.Context, in db.Session) ([]string, store.Errors, error) {
			ids, _, err := identifyPrices(ctx, in, len(items), func(i int) priceName { return items[i].priceName() })
			return ids, repeatedSales(items, ids), err
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		place:  func(places []int, path []string) []string { return salePath(items, places, path) },
		accept: explainLastSale,
	}, dryRun)
}

// explainLastSale explains the error of a price of which the items remove the last sale, and which has no amounts.
func explainLastSale(d *check.Line) {
	if price, ok := d.Source.(*catalog.PriceSource); !ok || len(price.Attributes.Currencies)+len(price.Attributes.Sales) > 0 {
		return
	}
	for i, fault := range d.Errors {
		if slices.Equal(fault.Path, []string{"attributes", "currencies"}) {
			d.Errors[i] = store.Invalidf(fault.Path, "would leave the price without amounts and sales; delete it with pricesDelete")
		}
	}
}

// repeatedSales returns an error for each item about the same sale as an earlier one.
func repeatedSales(items []*SaleItemInput, ids []string) (faults store.Errors) {
	type sale struct{ price, name string }
	seen := map[sale]bool{}
	for i, id := range ids {
		at := sale{id, items[i].Name}
		if seen[at] {
			faults = append(faults, store.Invalidf([]string{strconv.Itoa(i)}, "is about the same sale as an item before it, %q; send one item for each", store.Abbreviate(at.name)))
		}
		seen[at] = true
	}
	return faults
}

// priceName says which price an item is about.
type priceName struct {
	id             *string // nil if it is that of the SKU in the price book
	pricebook, sku string
}

func (item *PriceItemInput) priceName() priceName {
	return priceName{item.ID, store.LocalID(item.PricebookID), item.SKU}
}

func (item *SaleItemInput) priceName() priceName {
	return priceName{nil, store.LocalID(item.PricebookID), item.SKU}
}

// patch sets the members by which the price is found, so that a new price has them.
func (n priceName) patch(p *itemPatch) {
	p.Set(n.sku, "attributes", "sku")
	p.Set("pricebook", "relationships", "pricebook", "data", "type")
	p.Set(n.pricebook, "relationships", "pricebook", "data", "id")
}

// identifyPrices returns the id of each item's price. Of several with one SKU in a price book, it is that
// with the smallest id.
func identifyPrices(ctx context.Context, in db.Session, count int, name func(i int) priceName) ([]string, store.Errors, error) {
	ids, _, err := identify(ctx, in, count, func(i int) (*string, sheet.Key) {
		n := name(i)
		return n.id, sheet.Key{Kind: "product-price", In: n.pricebook, Value: n.sku}
	})
	return ids, nil, err
}

// amounts sets the amounts of currencies, each as a whole, at a path of the line, and adds the errors of list and removed. A null
// list removes all amounts.
func (p *itemPatch) amounts(list []*PriceAmountInput, removed []string, path ...string) {
	if p.null("amounts") {
		p.Set(nil, path...)
		return
	}
	currencies := map[string]bool{}
	for _, amount := range list {
		currencies[amount.Money.Currency] = true
	}
	refuseRepeated(p, "remove_currencies", removed, func(code string) string { return code })
	for i, code := range removed {
		f := &authoring.Validator{}
		if f.Currency("remove_currencies."+strconv.Itoa(i), code); currencies[code] {
			f.Add("remove_currencies."+strconv.Itoa(i), "is also in amounts, %q; send it in one of them", store.Abbreviate(code))
		}
		p.faults = append(p.faults, f.Errors...)
		p.Set(nil, append(slices.Clone(path), code)...)
	}
	refuseRepeated(p, "amounts", list, (*PriceAmountInput).key)
	for i, amount := range list {
		member := "amounts." + strconv.Itoa(i)
		refuseRepeated(p, member+".tiers", amount.Tiers, (*PriceTierInput).key)
		tiers := map[string]any{}
		for n, tier := range amount.Tiers {
			money := member + ".tiers." + strconv.Itoa(n) + ".money"
			if tier.Money.Currency != amount.key() {
				f := &authoring.Validator{}
				f.Add(money+".currency", "must be that of the amount, %q, got %q", store.Abbreviate(amount.key()), store.Abbreviate(tier.Money.Currency))
				p.faults = append(p.faults, f.Errors...)
			}
			tiers[tier.key()] = map[string]any{"minimum_quantity": tier.MinimumQuantity, "amount": p.amount(tier.Money.Digits(), money+".amount")}
		}
		at := append(slices.Clone(path), amount.key())
		p.Set(p.amount(amount.Money.Digits(), member+".money.amount"), append(slices.Clone(at), "amount")...)
		if amount.IncludesTax != nil || p.null(member+".includes_tax") {
			p.Set(amount.IncludesTax != nil && *amount.IncludesTax, append(slices.Clone(at), "includes_tax")...)
		}
		p.putWhole("", true, tiers, append(at, "tiers")...) // no member: an amount without tiers removes the stored ones
	}
}

// amount returns an amount of minor units. It adds an error for a member, with dots, if the text is none.
func (p *itemPatch) amount(text, member string) int64 {
	f := &authoring.Validator{}
	n, err := strconv.ParseInt(text, 10, 64)
	switch digits := text != "" && strings.Trim(text, "0123456789") == "" && (text[0] != '0' || text == "0"); {
	case !digits:
		f.Add(member, `must be digits of minor units without a sign or leading zeros, such as "1250", got %q`, store.Abbreviate(text))
	case err != nil || n > store.MaxAmount:
		f.Add(member, "must be between 0 and %d, got %q", store.MaxAmount, store.Abbreviate(text))
	}
	p.faults = append(p.faults, f.Errors...)
	return n
}

// emptied returns the member of an item that removes the last of the stored amounts; "" if some are left, or there were
// none.
func (p *itemPatch) emptied(stored map[string]catalog.AmountPrice, list []*PriceAmountInput, removed []string) string {
	if len(stored) > 0 && p.null("amounts") {
		return "amounts"
	}
	left := 0
	for code := range stored {
		if !slices.Contains(removed, code) {
			left++
		}
	}
	if left > 0 || len(stored) == 0 || len(list) > 0 {
		return ""
	}
	return "remove_currencies"
}

// storedPrice returns the price as it is stored, empty if it is new.
func (p *itemPatch) storedPrice() *catalog.PriceSource {
	if p.before != nil {
		if price, err := catalog.DecodePrice(p.before); err == nil {
			return price
		}
	}
	return &catalog.PriceSource{}
}

// patch adds what the item changes.
func (item *PriceItemInput) patch(p *itemPatch) {
	item.priceName().patch(p)
	stored := p.storedPrice()
	if emptied := p.emptied(stored.Attributes.Currencies, item.Amounts, item.RemoveCurrencies); emptied != "" && len(stored.Attributes.Sales) == 0 {
		p.faults = append(p.faults, store.Invalidf([]string{emptied}, "would leave the price without amounts; delete it with pricesDelete"))
	}
	p.amounts(item.Amounts, item.RemoveCurrencies, "attributes", "currencies")
}

// patch adds what the item changes, or the removal of the sale.
func (item *SaleItemInput) patch(p *itemPatch) {
	item.priceName().patch(p)
	sale, known := p.storedPrice().Attributes.Sales[item.Name]
	emptied := p.emptied(sale.Currencies, item.Amounts, item.RemoveCurrencies)
	switch {
	case item.Remove:
		if !known {
			p.faults = append(p.faults, &store.Error{Code: store.NotFound, Detail: "is no sale of the price, so it cannot be removed: " + strconv.Quote(store.Abbreviate(item.Name))})
		}
		p.Set(nil, "attributes", "sales", item.Name)
		return
	case !known && len(item.Amounts) == 0:
		p.faults = append(p.faults, store.Invalidf([]string{"amounts"}, "is required for a new sale"))
	case emptied != "":
		p.faults = append(p.faults, store.Invalidf([]string{emptied}, "would leave the sale without amounts; send remove: true to remove it"))
	}
	for member, at := range map[string]*time.Time{"valid_from": item.ValidFrom, "valid_to": item.ValidTo} {
		if at != nil {
			p.Set(store.FormatTime(*at), "attributes", "sales", item.Name, "schedule", member)
		} else if p.null(member) {
			p.Set(nil, "attributes", "sales", item.Name, "schedule", member)
		}
	}
	p.amounts(item.Amounts, item.RemoveCurrencies, "attributes", "sales", item.Name, "currencies")
}

// amountPath returns the path of an amount, with positions in the place of the currency and the name of the tier. Other paths
// stay, and so does a currency that is not in the list.
func amountPath(path []string, list []*PriceAmountInput) []string {
	if path[0] != "amounts" {
		return path
	}
	placed := elementPath(path, list, (*PriceAmountInput).key, "money", "currency")
	if len(placed) < 4 || placed[2] != "tiers" || placed[1] == path[1] {
		return placed
	}
	i, _ := strconv.Atoi(placed[1])
	return append(placed[:2], elementPath(placed[2:], list[i].Tiers, (*PriceTierInput).key)...)
}

// salePath returns the path of a member of a price in the item of the sale that it belongs to, or in the first item of
// the price. That of missing amounts is the item that removes a sale.
func salePath(items []*SaleItemInput, places []int, path []string) []string {
	if slices.Equal(path, []string{"amounts"}) { // explainLastSale
		for _, place := range places {
			if items[place].Remove {
				return []string{strconv.Itoa(place), "remove"}
			}
		}
	}
	if path[0] == "sales" && len(path) > 1 {
		for _, place := range places {
			if items[place].Name != path[1] {
				continue
			}
			if path = path[2:]; len(path) > 0 {
				path = amountPath(path, items[place].Amounts)
			}
			return inItem([]int{place}, path)
		}
	}
	return inItem(places, path)
}
