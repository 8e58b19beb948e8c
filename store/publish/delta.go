package publish

import (
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// delta is a release that holds only what differs from another one, its parent. New and changed products have ordinals of
// their own, above all of the parent's. Products of the parent that they replace, or that are gone, are dead. A
// segment.Reader reads the parent's layers and the delta as one.
//
// The parent is the served release, so that the cost of a publication follows what changed since the last one. Only if
// the served release has small layers on top, the parent is one below them, and the delta holds what they hold too
// (keptLayers): each layer is several times as large as the one above it, so that there are few. When the layers above
// the base hold much of the shop, housekeeping makes another base (makeBases), and when more differs at once, the
// publication does.
//
// A delta reads only the products that changed and those that they affect
// (affected_set.go), and writes only what changes in lists (list_delta.go).
type delta struct {
	parent         *segment.Release
	view           *release.View       // of the parent
	above          []segment.Layer     // of the served release, and not of the parent
	changes        map[string][]string // ids written since the parent, by table
	seeds          map[string]bool     // ids of products that changed themselves
	names          map[string]string   // names of the seeds in the parent, by id
	dead           index.Ordinals      // ordinals of the parent
	gone           []string            // the ids of those
	parentOrdinals []int32             // handles to ordinals of the parent, or -1
	curated        map[string]bool     // nodes whose curated products may differ from the parent
}

// A release is whole again when more than 1/deltaShare of its products, and more than deltaLeast, differ from the
// parent: a delta that large costs more than a third of a whole release. makeBases makes a base when more than
// 1/baseShare, and more than deltaLeast, are in the layers above the base.
const (
	deltaShare = 4
	baseShare  = 8
	deltaLeast = 100
)

// Each layer above the base has at least layerFactor times the products of the one above it, and a release at most
// maxLayers.
const (
	layerFactor = 4
	maxLayers   = 8
)

// most returns how many products of a release of so many can differ from the parent.
func (d *delta) most(products int) int { return max(deltaLeast, products/deltaShare) }

// keptLayers returns how many layers of the served release a delta of so many changed products is put upon. It joins the top
// layer with the delta while it is less than factor times as large, or there would be too many. factor is layerFactor, or
// negative in tests, so that only the number counts.
func keptLayers(layers []segment.Layer, changed, factor int) int {
	n := len(layers)
	for n > 1 {
		top := layers[n-1].End - layers[n-1].First
		if n < maxLayers && top >= factor*changed {
			break
		}
		changed += top
		n--
	}
	return n
}
