package model

import "portico/store/access"

// ShopperTokenCreateInput is the input of shopperTokenCreate.
type ShopperTokenCreateInput struct {
	access.NewShopperToken
	IdempotencyKey *string `json:"idempotencyKey,omitempty"`
}
