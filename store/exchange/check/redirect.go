package check

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// RedirectChecker finds redirects that share a path or lead back to themselves, with those of the store. It
// keeps the redirects of the file, of which a shop may have catalog.MaxRedirects.
type RedirectChecker map[string]redirectLine // by id

// redirectLine is a redirect of the file or of the store. It is zero for one to leave out.
type redirectLine struct {
	id, from, to string // to is empty if it leads to a resource
	line         int    // 0 for one of the store
}

func newRedirectLine(source *catalog.RedirectSource, line int) redirectLine {
	return redirectLine{source.ID, source.Attributes.From, source.Attributes.To, line}
}

// Add records the redirect of a line.
func (c RedirectChecker) Add(d Line) {
	source, ok := d.Source.(*catalog.RedirectSource)
	if ok && len(d.Errors) == 0 && len(c) <= catalog.MaxRedirects {
		c[source.ID] = newRedirectLine(source, d.Number)
	}
}

// Remove leaves out a stored redirect, which is deleted first.
func (c RedirectChecker) Remove(id string) { c[id] = redirectLine{} }

// Loops reports the lines of the file whose path another redirect has, and those that lead back to their own path.
func (c RedirectChecker) Loops(ctx context.Context, in db.Session) (list []ImportError, err error) {
	if len(c) == 0 {
		return nil, nil
	}
	stored, err := db.Collect(ctx, in, db.Scalar[[]byte], `SELECT body FROM redirect ORDER BY id`)
	if err != nil {
		return nil, err
	}
	byFrom := map[string]redirectLine{}
	for _, body := range stored {
		source := &catalog.RedirectSource{}
		if err := json.Unmarshal(body, source); err != nil {
			return nil, err
		}
		if _, replaced := c[source.ID]; !replaced {
			byFrom[source.Attributes.From] = newRedirectLine(source, 0)
		}
	}
	fault := func(at redirectLine, member, format string, args ...any) {
		list = append(list, ImportError{Line: at.line, Type: "redirect", Err: store.Invalidf([]string{"attributes", member}, format, args...)})
	}
	lines := make([]redirectLine, 0, len(c))
	for _, at := range c {
		if at.id != "" {
			lines = append(lines, at)
		}
	}
	slices.SortFunc(lines, func(a, b redirectLine) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.id, b.id)) })
	for _, at := range lines {
		if other, known := byFrom[at.from]; known {
			fault(at, "from", "is also the path of the redirect %q; change or delete that first", other.id)
			continue
		}
		byFrom[at.from] = at
	}
	for _, at := range lines {
		seen := map[string]bool{at.from: true} // also ends at a loop of others, which their own lines report
		for to := at.to; to != ""; to = byFrom[to].to {
			if to == at.from {
				fault(at, "to", "leads back to itself, over %d redirects", len(seen))
			}
			if seen[to] {
				break
			}
			seen[to] = true
		}
	}
	return list, nil
}
