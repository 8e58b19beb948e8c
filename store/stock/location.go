package stock

import "slices"

// DefaultLocation is the id of the only stock location.
const DefaultLocation = "default"

// Location is a place where stock is kept. There is only one.
type Location struct {
	ID          string
	Name        string
	Description string
	Address     []string // always empty
}

// Locations lists the locations.
func (s *Service) Locations() []*Location {
	return []*Location{{ID: DefaultLocation, Name: "Default", Description: "All stock.", Address: []string{}}}
}

// resourceNames are segments of REST paths that stand where another path has an id.
var resourceNames = []string{"attributes", "children", "codes", "configure", "files", "jobs", "locations", "multiple", "nodes", "products",
	"relationships", "transactions", "usages"}

// ResourceName reports whether text is one of resourceNames, so that it may not be the id of a new resource.
func ResourceName(text string) bool { return slices.Contains(resourceNames, text) }
