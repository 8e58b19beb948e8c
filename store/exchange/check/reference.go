package check

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
)

// referenceChecker checks that the targets of references exist, in the file or the store. It
// tracks hierarchies, nodes, price books, catalogs and promotions. A product's references
// are not checked: releases omit what is missing or not live.
type referenceChecker struct {
	lines   string                                // what holds the lines: the file or the items
	defined map[authoring.Reference]bool          // in the file
	wanted  map[authoring.Reference][]ImportError // each use, up to the number listed
	nodes   map[string]nodePosition
	steps   int // visits of nodes, for a test that their number is linear
}

// nodePosition is the position of a node in its tree.
type nodePosition struct {
	line              int    // 0 for a node of the store
	Parent, hierarchy string // ids; Parent is empty at the top of a hierarchy
}

// NewReferenceChecker returns a checker without lines. lines is what errors call their source, such as: the file.
func NewReferenceChecker(lines string) *referenceChecker {
	return &referenceChecker{lines: lines, defined: map[authoring.Reference]bool{}, wanted: map[authoring.Reference][]ImportError{}, nodes: map[string]nodePosition{}}
}

// Add records what a line defines, also if it has errors, and what it refers to.
func (r *referenceChecker) Add(d Line) {
	if KindByName(d.Kind).Referred {
		r.defined[authoring.Reference{Kind: d.Kind, ID: d.Source.Key()}] = true
	}
	if len(d.Errors) > 0 {
		return // one error a line is enough
	}
	for _, ref := range d.References {
		target := authoring.Reference{Kind: ref.Kind, ID: ref.ID}
		if len(r.wanted[target]) < MaxImportErrors {
			err := store.UnknownReferencef(strings.Split(ref.Member, "."), "refers to the %s %q, which is neither in %s nor in the store", ref.Kind, ref.ID, r.lines)
			r.wanted[target] = append(r.wanted[target], ImportError{Line: d.Number, Type: d.Kind, Err: err, Missing: true})
		}
	}
	if node, ok := d.Source.(*catalog.NodeSource); ok {
		r.nodes[node.ID] = nodePosition{d.Number, node.Relationships.Parent.ID(), node.Relationships.Hierarchy.ID()}
	}
}

// Missing reports missing targets, and nodes that are in a cycle or below a node of another
// hierarchy.
func (r *referenceChecker) Missing(ctx context.Context, in db.Session) (list []ImportError, err error) {
	for _, kind := range Kinds {
		var ids []string
		for target := range r.wanted {
			if target.Kind == kind.Name && !r.defined[target] {
				ids = append(ids, target.ID)
			}
		}
		slices.Sort(ids)
		found, err := db.CollectIn(ctx, in, db.Scalar[string], ids, `SELECT id FROM `+kind.Name+` WHERE id IN ($in)`)
		if err != nil {
			return nil, err
		}
		known := store.SetOf(found)
		for _, id := range ids {
			if !known[id] {
				list = append(list, r.wanted[authoring.Reference{Kind: kind.Name, ID: id}]...)
			}
		}
	}
	if len(r.nodes) == 0 {
		return list, nil
	}
	misplaced, err := r.misplacedNodes(ctx, in)
	return append(list, misplaced...), err
}

func (r *referenceChecker) misplacedNodes(ctx context.Context, in db.Session) (list []ImportError, err error) {
	places, err := NodePositions(ctx, in)
	if err != nil {
		return nil, err
	}
	return r.misplacedIn(places), nil
}

// misplacedIn returns the errors of nodes of the file that are in another hierarchy than their parent or a child that stays, or
// below themselves. places has the nodes of the store; it adds those of the file.
func (r *referenceChecker) misplacedIn(places map[string]nodePosition) (list []ImportError) {
	others := map[string][]string{} // nodes that are not in the file, by parent
	for id, place := range places {
		r.steps++
		if _, inFile := r.nodes[id]; !inFile && place.Parent != "" {
			others[place.Parent] = append(others[place.Parent], id)
		}
	}
	maps.Copy(places, r.nodes)
	inOrder := slices.SortedFunc(maps.Keys(r.nodes), func(a, b string) int { return cmp.Or(r.nodes[a].line-r.nodes[b].line, strings.Compare(a, b)) })
	rooted := map[string]bool{}
	for _, id := range inOrder {
		node, f := r.nodes[id], &authoring.Validator{}
		if parent, ok := places[node.Parent]; ok && parent.hierarchy != node.hierarchy {
			f.Add("relationships.parent.data.id", "must be a node of the same hierarchy, %q; %q is in %q", node.hierarchy, node.Parent, parent.hierarchy)
		}
		if !r.isRooted(id, places, rooted) {
			f.Add("relationships.parent.data.id", "must not be the node itself or one of its descendants")
		}
		slices.Sort(others[id])
		for _, child := range others[id] {
			r.steps++
			if place := places[child]; place.hierarchy != node.hierarchy {
				f.Add("relationships.hierarchy.data.id", "must stay %q while the node %q of that hierarchy is its child", place.hierarchy, child)
			}
		}
		for _, fault := range f.Errors {
			list = append(list, ImportError{Line: node.line, Type: "node", Err: fault})
		}
	}
	return list
}

// isRooted reports whether the path up from a node ends, without a cycle. It stores the
// result in known for each node on the way, so each is visited once.
func (r *referenceChecker) isRooted(id string, places map[string]nodePosition, known map[string]bool) bool {
	var way []string
	ends := true
	for up := id; up != ""; up = places[up].Parent {
		r.steps++
		if rooted, seen := known[up]; seen {
			ends = rooted
			break
		}
		known[up] = false // until the path ends; meeting it again is a cycle
		way = append(way, up)
	}
	for _, passed := range way {
		known[passed] = ends
	}
	return ends
}

// NodePositions reads the trees of the store.
func NodePositions(ctx context.Context, in db.Session) (map[string]nodePosition, error) {
	places, err := db.Collect(ctx, in, func(rows *sql.Rows) (place db.Pair[string, nodePosition], err error) {
		var node catalog.NodeSource
		err = rows.Scan(db.JSON{Into: &node})
		return db.Pair[string, nodePosition]{Key: node.ID, Value: nodePosition{0, node.Relationships.Parent.ID(), node.Relationships.Hierarchy.ID()}}, err
	}, `SELECT body FROM node ORDER BY sequence, id`)
	return db.PairMap(places), err
}
