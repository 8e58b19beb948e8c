package remote

import (
	"strings"
	"time"
)

// fetchState is how far a fetch is, and what it learnt that lines need later. Folder.commit writes it.
type fetchState struct {
	Version   int       `json:"version"` // stateVersion
	URL       string    `json:"url"`     // this and the next four are of the Config
	ClientID  string    `json:"client_id"`
	Languages []string  `json:"languages_wanted,omitempty"`
	Channel   string    `json:"channel,omitempty"`
	Tags      []string  `json:"tags,omitempty"`
	StartedAt time.Time `json:"started_at"`
	Finished  bool      `json:"finished"`

	Done  map[string]bool      `json:"done"`  // steps of Fetch
	At    map[string]*position `json:"at"`    // of the lists that are being read; without Query for one that was read to its end
	Parts map[string]int64     `json:"parts"` // valid bytes of the parts

	Shop       shop                 `json:"shop"`
	Pricebooks map[string]int       `json:"pricebooks"` // how many prices are from each
	Modifiers  map[string]*modifier `json:"modifiers"`
	CodesDone  int                  `json:"codes_done"`            // promotions whose codes were read
	StockAfter string               `json:"stock_after,omitempty"` // the last product whose stock was read by id
	Counts     map[string]int       `json:"counts"`                // of countedGaps by their names, and of lines by "lines." and the part
	Refused    map[string]string    `json:"refused"`               // status of what the server refuses, such as 403 Forbidden, by what it is
}

// isEmpty reports whether nothing was read yet.
func (s *fetchState) isEmpty() bool { return len(s.Done)+len(s.At)+len(s.Parts) == 0 }

// shopper is "channel web, tags new, vip"; empty for a shopper without channel and tags.
func (s *fetchState) shopper() string {
	var parts []string
	if s.Channel != "" {
		parts = append(parts, "channel "+s.Channel)
	}
	if len(s.Tags) > 0 {
		parts = append(parts, "tags "+strings.Join(s.Tags, ", "))
	}
	return strings.Join(parts, ", ")
}

// shop is what holds for the whole shop.
type shop struct {
	CatalogID string `json:"catalog_id"`
	Name      string `json:"name"`
	Language  string `json:"language"` // of the base texts
	Currency  string `json:"currency"` // of prices without X-Moltin-Currency; empty if unknown

	OtherLanguages  []string `json:"other_languages"`
	OtherCurrencies []string `json:"other_currencies"`
	Hierarchies     []string `json:"hierarchies"`
}

// wireAmount is an amount in a currency, in minor units.
type wireAmount struct {
	Amount      int64 `json:"amount"`
	IncludesTax bool  `json:"includes_tax"`
}

// modifier is a price modifier, as the server sends it and as the import format has it.
type modifier struct {
	ModifierType string                `json:"modifier_type"`
	Currencies   map[string]wireAmount `json:"currencies,omitempty"`
}
