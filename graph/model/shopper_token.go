package model

import "portico/store/access"

// ShopperTokenCreateInput is whom the schema's new token is for.
type ShopperTokenCreateInput struct {
	access.NewShopperToken
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}
