package datagen

import (
	"fmt"
	"strings"
)

// hierarchies writes the roots of both hierarchies.
func (g *generator) hierarchies() {
	for i, name := range []string{"Departments", "Collections"} {
		g.line(hierarchyResource{Type: "hierarchy", ID: g.id("hierarchy", i), Attributes: nodeAttributes{CreatedAt: opened,
			Name: name, Slug: strings.ToLower(name), Description: name + " of the whole shop."}})
	}
}

// departments writes departments of ten aisles of ten leaves. An inner node has the first ten products of
// its first leaf.
func (g *generator) departments() {
	nouns := vocabulary("nouns.en")
	first := func(leaf int) func(func(int) bool) {
		return func(yield func(int) bool) {
			n := 0
			for i := range g.inLeaf(leaf) {
				n++
				if n > 10 || !yield(i) {
					return
				}
			}
		}
	}
	for leaf := range g.leaves {
		if leaf%100 == 0 {
			g.node(fmt.Sprintf("Department %d", leaf/100+1), 0, "", g.id("department", leaf/100), first(leaf))
		}
		if leaf%10 == 0 {
			g.node(fmt.Sprintf("Aisle %d", leaf/10+1), 0, g.id("department", leaf/100), g.id("aisle", leaf/10), first(leaf))
		}
		g.node(fmt.Sprintf("%s %d", nouns[leaf%len(nouns)], leaf+1), 0, g.id("aisle", leaf/10), g.id("leaf", leaf), g.inLeaf(leaf))
	}
}

// maxNodeProducts keeps the line of a node below the 64 MiB limit of imports.
const maxNodeProducts = 600_000

// collections writes Everything, in shops of 20 products or more, and three smaller nodes: every 19th, 20th
// and 21st product. Children are in no node.
func (g *generator) collections() {
	every := func(step, from, until int) func(func(int) bool) {
		return func(yield func(int) bool) {
			for i := from; i < until; i += step {
				if parent, _ := g.family(i); parent < 0 && !yield(i) {
					return
				}
			}
		}
	}
	if g.products >= 20 {
		g.node("Everything", 1, "", g.id("everything", 0), every(1, 0, min(g.products*6/10, maxNodeProducts)))
	}
	for i, name := range []string{"New arrivals", "Bestsellers", "Gifts"} {
		g.node(name, 1, "", g.id("collection", i), every(19+i, i, g.products))
	}
}

// node writes a node in pieces, since a line can have many megabytes. hierarchy is the number of its
// hierarchy; an empty parent is the hierarchy itself. It curates every ninth product, at most five.
func (g *generator) node(name string, hierarchy int, parent, id string, products func(func(int) bool)) {
	n := node{Type: "node", ID: id, Attributes: nodeAttributes{CreatedAt: opened, Name: name, Slug: strings.ToLower(strings.ReplaceAll(name, " ", "-")),
		Description: "All there is of: " + name + "."}}
	position := 0
	for i := range products {
		if position%9 == 0 {
			n.Attributes.CuratedProducts = append(n.Attributes.CuratedProducts, g.id("product", i))
		}
		position++
		if len(n.Attributes.CuratedProducts) == 5 {
			break
		}
	}
	n.Relationships.Hierarchy = &link{ref{"hierarchy", g.id("hierarchy", hierarchy)}}
	if parent != "" {
		n.Relationships.Parent = &link{ref{"node", parent}}
	}
	n.Relationships.Products = &links{Data: []ref{}}
	head, tail, _ := strings.Cut(string(encode(n)), `"data":[]`)
	g.write(head + `"data":[`)
	separator := ""
	for i := range products {
		g.write(separator + `{"type":"product","id":"` + g.id("product", i) + `"}`)
		separator = ","
	}
	g.write("]" + tail + "\n")
}
