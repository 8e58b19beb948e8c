package rest

import (
	"net/http"

	"portico/graph/model"
	"portico/store/access"
)

// shopperTokenBody is a new shopper token.
type shopperTokenBody struct {
	Type      string   `json:"type"`
	Token     string   `json:"token"`
	TokenType string   `json:"token_type"`
	ExpiresAt string   `json:"expires_at"`
	Scopes    []string `json:"scopes"`
}

// shopperTokenMembers are the shopper and the lifetime of a new token.
type shopperTokenMembers struct {
	AccountID   string   `json:"account_id"`
	AccountTags []string `json:"account_tags"`
	CustomerID  string   `json:"customer_id"`
	ExpiresIn   *int     `json:"expires_in"` // seconds
}

// createShopperToken creates a token for a shopper.
func (a *API) createShopperToken(w http.ResponseWriter, r *http.Request) error {
	var wanted shopperTokenMembers
	if err := readData(w, r, &wanted); err != nil {
		return err
	}
	input := model.ShopperTokenCreateInput{NewShopperToken: access.NewShopperToken(wanted)}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().ShopperTokenCreate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	return writeData(w, http.StatusCreated, shopperTokenBody{"shopper_token", *payload.Token, "Bearer", payload.ExpiresAt.UTC().Format(timeFormat), payload.Scopes})
}
