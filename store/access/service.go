// Package access manages API clients, signing keys and shopper tokens. Service reads
// and writes them; Client and SigningKey are its main types. It may import store,
// store/authoring, store/db and store/seal.
package access

import "portico/store/db"

// Service manages the API clients, signing keys and shopper tokens of a database.
type Service struct {
	db      *db.DB
	revoked db.TopicCache[map[string]bool] // ids of revoked API clients
}

// NewService returns the service of a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }
