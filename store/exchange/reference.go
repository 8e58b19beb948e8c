package exchange

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
)

// references checks that what a file refers to is in it or in the store. It
// keeps the few kinds that others hang from (hierarchies, nodes, price books,
// catalogs, promotions); a product's references are soft: what is missing or
// not live is left out of releases.
type references struct {
	defined map[authoring.Reference]bool          // member is empty
	wanted  map[authoring.Reference][]ImportFault // for each use, as far as they would be told
	nodes   map[string]nodePlace
	steps   int // from place to place, which grow as the file does
}

// nodePlace is where a node hangs in the tree.
type nodePlace struct {
	line              int
	parent, hierarchy string
}

func newReferences() *references {
	return &references{defined: map[authoring.Reference]bool{}, wanted: map[authoring.Reference][]ImportFault{}, nodes: map[string]nodePlace{}}
}

func (r *references) note(d decoded) {
	if kindOf(d.kind).Referred {
		r.defined[authoring.Reference{Kind: d.kind, ID: d.source.Key()}] = true
	}
	if len(d.faults) > 0 {
		return // one fault is enough to mend a line
	}
	for _, ref := range d.refs {
		target := authoring.Reference{Kind: ref.Kind, ID: ref.ID}
		if len(r.wanted[target]) < MaxImportFaults {
			f := &authoring.Faults{}
			f.Add(ref.Member, "refers to the %s %q, which is neither in the file nor in the store", ref.Kind, ref.ID)
			r.wanted[target] = append(r.wanted[target], ImportFault{d.line, d.kind, f.List[0]})
		}
	}
	if node, ok := d.source.(*catalog.NodeSource); ok {
		r.nodes[node.ID] = nodePlace{d.line, node.Relationships.Parent.ID(), node.Relationships.Hierarchy.ID()}
	}
}

// missing lists what is referred to and not there, and nodes that hang from
// themselves or from another hierarchy.
func (r *references) missing(ctx context.Context, s *ExchangeService) (list []ImportFault, err error) {
	for _, kind := range kinds {
		var ids []string
		for target := range r.wanted {
			if target.Kind == kind.Name && !r.defined[target] {
				ids = append(ids, target.ID)
			}
		}
		slices.Sort(ids)
		err := store.Chunked(ids, 512, func(ids []string) error {
			places, args := db.InList(nil, ids)
			found, err := db.Collect(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM `+kind.Name+` WHERE id IN (`+places+`)`, args...)
			for _, id := range ids {
				if !slices.Contains(found, id) {
					list = append(list, r.wanted[authoring.Reference{Kind: kind.Name, ID: id}]...)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(list) > 0 || len(r.nodes) == 0 {
		return list, nil
	}
	return r.misplaced(ctx, s)
}

func (r *references) misplaced(ctx context.Context, s *ExchangeService) (list []ImportFault, err error) {
	places, err := s.nodePlaces(ctx)
	if err != nil {
		return nil, err
	}
	return r.misplacedAmong(places), nil
}

// misplacedAmong is misplaced, beside the places of the store.
func (r *references) misplacedAmong(places map[string]nodePlace) (list []ImportFault) {
	left := map[string][]string{} // nodes that the file does not hold, by parent
	for id, place := range places {
		r.steps++
		if _, inFile := r.nodes[id]; !inFile && place.parent != "" {
			left[place.parent] = append(left[place.parent], id)
		}
	}
	maps.Copy(places, r.nodes)
	inOrder := slices.SortedFunc(maps.Keys(r.nodes), func(a, b string) int { return cmp.Or(r.nodes[a].line-r.nodes[b].line, strings.Compare(a, b)) })
	rooted := map[string]bool{}
	for _, id := range inOrder {
		node, f := r.nodes[id], &authoring.Faults{}
		if parent, ok := places[node.parent]; ok && parent.hierarchy != node.hierarchy {
			f.Add("relationships.parent.data.id", "must be a node of the same hierarchy, %q; %q is one of %q", node.hierarchy, node.parent, parent.hierarchy)
		}
		if !r.isRooted(id, places, rooted) {
			f.Add("relationships.parent.data.id", "must not be the node itself or one below it")
		}
		slices.Sort(left[id])
		for _, child := range left[id] {
			r.steps++
			if place := places[child]; place.hierarchy != node.hierarchy {
				f.Add("relationships.hierarchy.data.id", "must stay %q as long as the node %q of that hierarchy hangs from it", place.hierarchy, child)
			}
		}
		for _, fault := range f.List {
			list = append(list, ImportFault{node.line, "node", fault})
		}
	}
	return list
}

// isRooted tells whether the way up from a node ends, and does not come round.
// What it learns of the nodes on the way is known from then on, so that no
// place is left twice.
func (r *references) isRooted(id string, places map[string]nodePlace, known map[string]bool) bool {
	var way []string
	ends := true
	for up := id; up != ""; up = places[up].parent {
		r.steps++
		if rooted, seen := known[up]; seen {
			ends = rooted
			break
		}
		known[up] = false // until the way has ended: who comes by again has come round
		way = append(way, up)
	}
	for _, passed := range way {
		known[passed] = ends
	}
	return ends
}

// nodePlaces reads the trees of the store.
func (s *ExchangeService) nodePlaces(ctx context.Context) (map[string]nodePlace, error) {
	places := map[string]nodePlace{}
	_, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
		var body []byte
		var node catalog.NodeSource
		if err := rows.Scan(&body); err != nil {
			return none, err
		}
		if err := json.Unmarshal(body, &node); err != nil {
			return none, err
		}
		places[node.ID] = nodePlace{0, node.Relationships.Parent.ID(), node.Relationships.Hierarchy.ID()}
		return none, nil
	}, `SELECT body FROM node ORDER BY sequence, id`)
	return places, err
}
