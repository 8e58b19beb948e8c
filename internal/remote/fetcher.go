package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"portico/store"
)

// fetcher is a running fetch.
type fetcher struct {
	*apiClient
	folder *Folder
	say    func(text string)

	products, files map[string]bool // ids that were written, by an earlier run too; nil until loadKnown
	orders          map[string]bool // what noteOrder has written
}

// pagesShown is after how many pages of a list its progress is shown.
const pagesShown = 50

// each reads a list from where the fetch stopped, calls do for each page, and commits after it. name is that of the list in
// fetchState.At. It counts the rows that cannot be read as "cut." and what.
func (f *fetcher) each(ctx context.Context, name, what string, l resourceList, do func(*page) error) error {
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
		f.folder.state.At[name] = cmp.Or(p.next, &position{})
		if p.next != nil && p.next.Pages%pagesShown == 0 {
			f.say(fmt.Sprintf("%s: read %d so far", what, p.next.Pages*pageLength))
		}
		return f.folder.commit()
	})
}

// optional records an error with status 403, 404 or 405 by refused and returns nil: the client may not read something, or the
// server does not have it. It returns any other error.
func (f *fetcher) optional(what string, err error) error {
	switch status(err) {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		f.refused(what, err)
		return nil
	}
	return err
}

// refused records in the state what the server refuses, for Gaps.
func (f *fetcher) refused(what string, err error) {
	f.folder.state.Refused[what] = strconv.Itoa(status(err)) + " " + http.StatusText(status(err))
}

// decodeRow decodes a resource of a page. Errors name it.
func decodeRow(what string, raw json.RawMessage, into any) error {
	if err := store.DecodeJSON(raw, into); err != nil {
		return fmt.Errorf("the %s %q is not as the interface has it: %w", what, abbreviate(idOf(raw)), err)
	}
	return nil
}
