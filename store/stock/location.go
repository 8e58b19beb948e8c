package stock

import "slices"

// DefaultLocation is the id of the only stock location.
const DefaultLocation = "default"

// StockLocation is a place where stock is kept. There is only one.
type StockLocation struct {
	ID          string
	Name        string
	Description string
	Address     []string // always empty
}

// Locations lists the locations.
func (s *Service) Locations() []*StockLocation {
	return []*StockLocation{{ID: DefaultLocation, Name: "Default", Description: "All stock.", Address: []string{}}}
}

// resourceNames are path segments that could be mistaken for an id.
var resourceNames = []string{"attributes", "children", "codes", "configure", "files", "jobs", "locations", "multiple", "nodes", "products",
	"relationships", "transactions", "usages"}

// ResourceName reports whether text is such a segment, so that it may not be a new id.
func ResourceName(text string) bool { return slices.Contains(resourceNames, text) }
