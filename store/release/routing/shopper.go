package routing

import "golang.org/x/text/language"

// ShopperContext is what is known of a shopper. It selects the catalog, the
// language and the currency.
type ShopperContext struct {
	Channel     string
	Tags        []string
	AccountID   string
	AccountTags []string
	CustomerID  string
	Languages   []language.Tag // the preferred one first; empty or mul is the base text
	Currency    string         // ISO 4217; empty is the store's

	ReleaseID string // a release to see in place of the one that the rules choose; empty is none
}
