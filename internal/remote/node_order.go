package remote

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// An import attaches products to nodes in the order of the lines, and products show the node with their newest attachment
// first. So the lines of the nodes are sorted after the breadcrumbs of the products, as far as those agree.

// maxOrders bounds the memory of fetcher.orders. Further lists may be written more than once, which changes no result.
const maxOrders = 100000

// noteOrder writes the nodes of a product to orderPart, the newest attachment first.
func (f *fetcher) noteOrder(nodes []string) error {
	if len(nodes) < 2 {
		return nil
	}
	key := strings.Join(nodes, " ")
	if f.orders[key] {
		return nil
	}
	if len(f.orders) < maxOrders {
		f.orders[key] = true
	}
	return f.folder.write(orderPart, nodes)
}

// sortNodes sorts the lines of the nodes by orderPart.
func (f *fetcher) sortNodes(context.Context) error {
	earlier := map[string]map[string]bool{} // by node: those that some product was attached to before
	if err := f.folder.each(orderPart, func(text []byte) error {
		var nodes []string
		err := json.Unmarshal(text, &nodes)
		for i := range max(0, len(nodes)-1) {
			if earlier[nodes[i]] == nil {
				earlier[nodes[i]] = map[string]bool{}
			}
			earlier[nodes[i]][nodes[i+1]] = true
		}
		return err
	}); err != nil || len(earlier) == 0 {
		return err
	}
	var ids []string
	sections := map[string]section{}
	var offset int64
	if err := f.folder.each("nodes", func(text []byte) error {
		id := idOf(text)
		ids, sections[id] = append(ids, id), section{offset, int64(len(text))}
		offset += int64(len(text))
		return nil
	}); err != nil {
		return err
	}
	return f.folder.rearrange("nodes", sections, sorted(ids, earlier))
}

// sorted returns the ids in their order, but each after those that are earlier than it. Where two ids are earlier than each
// other, one of them wins.
func sorted(ids []string, earlier map[string]map[string]bool) (result []string) {
	place, visited := map[string]int{}, map[string]bool{}
	for i, id := range ids {
		place[id] = i
	}
	var visit func(id string)
	visit = func(id string) {
		if _, known := place[id]; !known || visited[id] {
			return
		}
		visited[id] = true
		before := slices.Collect(maps.Keys(earlier[id]))
		slices.SortFunc(before, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
		for _, id := range before {
			visit(id)
		}
		result = append(result, id)
	}
	for _, id := range ids {
		visit(id)
	}
	return result
}

// section is where a line is in a file.
type section struct{ offset, bytes int64 }

// rearrange replaces a part by one with its lines in another order: that of the ids in order, each with its section.
func (f *Folder) rearrange(name string, sections map[string]section, order []string) error {
	if p := f.files[name]; p != nil {
		p.file.Close() // the step before has committed everything
		delete(f.files, name)
	}
	from, err := os.Open(f.file(name))
	if err != nil {
		return err
	}
	defer from.Close()
	temporary := f.file(name) + ".new"
	to, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	buffer := bufio.NewWriterSize(to, 1<<16)
	for _, id := range order {
		at := sections[id]
		if _, err := io.Copy(buffer, io.NewSectionReader(from, at.offset, at.bytes)); err != nil {
			return err
		}
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	return os.Rename(temporary, f.file(name))
}
