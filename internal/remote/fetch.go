// Package remote reads the shop of another server that speaks the REST interface of the commerce service, and writes it as
// lines of the import format. Fetch reads all of it into a Folder, and continues where an interrupted run stopped; Gaps are
// what the interface does not show. Package remote must not import packages of the store but those with the rules that it
// needs, and not the command line.
package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Fetch reads the shop into the folder, or what is missing there. The result has been fetched completely. Until the caller
// closes or removes it, another Fetch into the folder is an error. If Fetch fails before it read anything, it removes the folder.
func Fetch(ctx context.Context, c Config) (_ *Folder, err error) {
	sender, err := newClient(c)
	if err != nil {
		return nil, err
	}
	folder, err := openFolder(c.Folder, c)
	if err != nil {
		return nil, err
	}
	defer func() {
		folder.closeParts()
		switch {
		case err == nil: // the caller has the folder
		case folder.state.isEmpty():
			err = errors.Join(err, folder.Remove()) // there is nothing to continue
		default:
			folder.Close()
		}
	}()
	f := &fetcher{apiClient: sender, folder: folder, say: c.Progress, orders: map[string]bool{}}
	if f.say == nil {
		f.say = func(string) {}
	}
	if folder.state.Finished {
		f.say(fmt.Sprintf("using what was read at %s; remove the folder %s to read the shop again", folder.state.StartedAt.Format(time.RFC3339), c.Folder))
		return folder, nil
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"shop", f.fetchShop}, {"hierarchies", f.fetchHierarchies}, {"products", f.fetchProducts}, {"files", f.fetchFiles}, {"nodes", f.fetchNodes}, {"node order", f.sortNodes},
		{"stock", f.fetchStock}, {"promotions", f.fetchPromotions}, {"codes", f.fetchCodes}, {"gateways", f.fetchGateways}, {"catalog", f.writeCatalog},
	} {
		if folder.state.Done[step.name] {
			continue
		}
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("read %s: %w", step.name, err)
		}
		folder.state.Done[step.name] = true
		if err := folder.commit(); err != nil {
			return nil, err
		}
		if n := folder.state.Counts["lines."+step.name]; n > 0 {
			f.say(step.name + ": read " + strconv.Itoa(n))
		}
	}
	folder.state.Finished = true
	if err := folder.commit(); err != nil {
		return nil, err
	}
	return folder, nil
}

// Files returns the files with the lines, in the order of linePartNames.
func (f *Folder) Files() (paths []string) {
	for _, name := range linePartNames {
		if f.state.Parts[name] > 0 {
			paths = append(paths, f.file(name))
		}
	}
	return paths
}
