package stock

import "slices"

// DefaultLocation is the id of the one place where stock is.
const DefaultLocation = "default"

// StockLocation is a place where stock is. There is one, which holds
// everything.
type StockLocation struct {
	ID          string
	Name        string
	Description string
	ExternalRef string   // in another system; empty
	Address     []string // lines; none
}

// StockLocations lists the places where stock is.
func (s *StockService) StockLocations() []*StockLocation {
	return []*StockLocation{{ID: DefaultLocation, Name: "Default", Description: "All stock there is.", Address: []string{}}}
}

// resourceNames are what paths have where an id could stand: the names of
// resources below others.
var resourceNames = []string{"attributes", "children", "codes", "configure", "files", "jobs", "locations", "multiple", "nodes", "products",
	"relationships", "transactions", "usages"}

// ResourceName tells whether a text is the name of a resource below others, so
// that nothing new is made under it as an id.
func ResourceName(text string) bool { return slices.Contains(resourceNames, text) }
