// Package genqlient is a Go client of what a storefront asks, as genqlient
// makes it, held against a server by its test. It has a module of its own, so
// that the server needs nothing of it.
package genqlient
