package rest

import (
	"net/http"
	"slices"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/store"
	"portico/store/gateway"
)

// gatewayBody is a gateway. The password is a mask, or empty if there is none. The
// signature is always empty.
type gatewayBody struct {
	Enabled    bool   `json:"enabled"`
	Login      string `json:"login"`
	Name       string `json:"name"`
	Type       string `json:"type"`
	Password   string `json:"password"`
	Signature  string `json:"signature"`
	Slug       string `json:"slug"`
	Test       bool   `json:"test"`
	MerchantID string `json:"merchant_id"`
}

func newGatewayBody(g *model.Gateway) gatewayBody {
	body := gatewayBody{Enabled: g.Enabled, Login: g.Login, Name: g.Name, Type: "gateway", Slug: string(g.Slug), Test: g.Test, MerchantID: g.MerchantID}
	if g.PasswordSet {
		body.Password = gateway.SecretMask
	}
	return body
}

// gateways lists all gateways, without pages.
func (a *API) gateways(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r)
	gateways, err := a.resolver.Query().Gateways(r.Context())
	if err != nil {
		return err
	}
	list := make([]gatewayBody, len(gateways))
	for i, g := range gateways {
		list[i] = newGatewayBody(g)
	}
	return writeData(w, http.StatusOK, list)
}

// gateway returns a gateway by its slug.
func (a *API) gateway(w http.ResponseWriter, r *http.Request) error {
	slug := gateway.Slug(r.PathValue("slug"))
	addGraphQLHint(w, r, "slug", slug)
	found, err := a.resolver.Query().Gateway(r.Context(), slug)
	if err != nil {
		return err
	}
	if found == nil {
		return gateway.UnknownGateway()
	}
	return writeData(w, http.StatusOK, newGatewayBody(found))
}

// gatewayMembers are the members of a gateway that can be changed.
type gatewayMembers struct {
	Name       *string         `json:"name"`
	Enabled    *bool           `json:"enabled"`
	Test       *bool           `json:"test"`
	MerchantID *string         `json:"merchant_id"`
	Username   *string         `json:"username"`
	Password   *gateway.Secret `json:"password"`

	Nulls store.Nulls `json:"-"` // set by the resolver; here so that gatewayMembers converts to gateway.Change
}

// updateGateway changes the members sent. Empty names and slugs count as left out. The
// response of GET can be sent back: login and signature are ignored.
func (a *API) updateGateway(w http.ResponseWriter, r *http.Request) error {
	var change struct {
		Type *string `json:"type"`
		Slug *string `json:"slug"`
		gatewayMembers
	}
	r, err := readUpdate(w, r, &change)
	if err != nil {
		return err
	}
	slug := r.PathValue("slug")
	nulls := opctx.Nulls(r.Context())
	if slices.Contains(nulls, "type") || change.Type != nil && *change.Type != "" && *change.Type != "gateway" {
		return &store.Error{Code: store.Unprocessable, Path: []string{"type"}, Detail: "must be gateway or left out"}
	}
	if slices.Contains(nulls, "slug") || change.Slug != nil && *change.Slug != "" && *change.Slug != slug {
		return &store.Error{Code: store.Unprocessable, Path: []string{"slug"}, Detail: "must be " + slug + ", as in the path, or left out"}
	}
	input := model.GatewayUpdateInput{Slug: gateway.Slug(slug), Change: gateway.Change(change.gatewayMembers)}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().GatewayUpdate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	return writeData(w, http.StatusOK, newGatewayBody(payload.Gateway))
}
