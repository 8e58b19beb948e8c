// Package remote reads the shop of another server that speaks the REST interface of the commerce service, and writes it as
// lines of the import format. Fetch reads all of it into a Folder, and continues where an interrupted run stopped; Gaps are
// what the interface does not tell. Package remote must not import packages of the store but those with the rules that it
// needs, and not the command line.
package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"portico/store"
)

// DefaultRate is how many requests a second a fetch sends at most.
const DefaultRate = 10

// Config says what to fetch, and how.
type Config struct {
	URL         string // base address, such as https://shop.example
	Credentials Credentials
	Languages   []string // BCP 47 tags to fetch beside those that the server's settings name
	Rate        float64  // requests a second; 0 means DefaultRate
	Folder      string   // where to keep what was fetched

	Progress func(text string)                // called after each step; may be nil
	Waiting  func(err error, d time.Duration) // called before a request is repeated; may be nil

	firstWait time.Duration // before the first repetition; 0 means a second
}

// fetcher is a running fetch.
type fetcher struct {
	*client
	folder *Folder
	say    func(text string)

	products, files map[string]bool // ids that were written
	orders          map[string]bool // lists of nodes that were written
}

// Fetch reads the shop into the folder, or what is missing there. The result has been fetched completely.
func Fetch(ctx context.Context, c Config) (*Folder, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	folder, err := openFolder(c.Folder, c)
	if err != nil {
		return nil, fmt.Errorf("keep what is fetched: %w", err)
	}
	defer folder.close()
	f := &fetcher{client: client, folder: folder, say: c.Progress, orders: map[string]bool{}}
	if f.say == nil {
		f.say = func(string) {}
	}
	if folder.state.Finished {
		f.say(fmt.Sprintf("using what was fetched at %s; remove %s to fetch again", folder.state.StartedAt.Format(time.RFC3339), c.Folder))
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
			return nil, fmt.Errorf("fetch %s: %w", step.name, err)
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
	return folder, folder.commit()
}

// Files returns the files with the lines.
func (f *Folder) Files() (paths []string) {
	for _, name := range []string{"settings", "catalog", "hierarchies", "nodes", "files", "products", "prices", "stock", "promotions", "codes", "gateways"} {
		if f.state.Parts[name] > 0 {
			paths = append(paths, f.file(name))
		}
	}
	return paths
}

// each reads a list from where the fetch stopped, and commits after each page. name is that of the list in the state. It
// counts the rows that cannot be read as what.
func (f *fetcher) each(ctx context.Context, name, what string, l list, do func(*page) error) error {
	at := f.folder.state.At[name]
	if at == nil {
		at = l.first()
	}
	if at.Query == "" { // read to its end
		return nil
	}
	return f.walk(ctx, l, at, func(p *page) error {
		f.folder.state.Counts["cut."+what] += p.left
		if err := do(p); err != nil {
			return err
		}
		if f.folder.state.At[name] = p.next; p.next == nil {
			f.folder.state.At[name] = &position{}
		}
		return f.folder.commit()
	})
}

// optional returns nil for the error of what the client may not read, or the server does not have, and notes it.
func (f *fetcher) optional(what string, err error) error {
	switch status(err) {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		f.folder.state.Refused[what] = strconv.Itoa(status(err)) + " " + http.StatusText(status(err))
		return nil
	}
	return err
}

// decodeRow decodes a resource of a page. Errors name it.
func decodeRow(what string, raw json.RawMessage, into any) error {
	if err := store.DecodeJSON(raw, into); err != nil {
		return fmt.Errorf("the %s %q is not as the interface has it: %w", what, abbreviate(idOf(raw)), err)
	}
	return nil
}
