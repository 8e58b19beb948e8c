package rest

import "net/http"

// locationBody is a stock location.
type locationBody struct {
	ID         string             `json:"id"`
	Type       string             `json:"type"`
	Attributes locationAttributes `json:"attributes"`
}

type locationAttributes struct {
	Name        string   `json:"name"`
	ExternalRef string   `json:"external_ref"` // always empty
	Description string   `json:"description"`
	Address     []string `json:"address"`
	Geolocation any      `json:"geolocation"` // always null
}

// stockLocations lists the one stock location.
func (a *API) stockLocations(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r)
	locations, err := a.resolver.Query().StockLocations(r.Context())
	if err != nil {
		return err
	}
	list := make([]locationBody, len(locations))
	for i, l := range locations {
		list[i] = locationBody{l.ID, "inventory_location", locationAttributes{Name: l.Name, Description: l.Description, Address: l.Address}}
	}
	return writeData(w, http.StatusOK, list)
}
