package publish

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// ReleaseNotes are what people write on a release.
type ReleaseNotes struct {
	Label string `json:"label,omitempty"` // short, for example a version; at most 100 bytes, without line breaks
	Note  string `json:"note,omitempty"`  // at most 2,000 bytes
}

// The bounds of what is written on a release, and of retained releases.
const (
	maxLabel    = 100
	maxNote     = 2000
	maxRetained = 20 // of a catalog
)

// check returns the UNPROCESSABLE errors of notes.
func (n ReleaseNotes) check() error {
	if err := checkNote("label", n.Label, maxLabel); err != nil {
		return err
	}
	if strings.ContainsAny(n.Label, "\r\n") {
		return store.Unprocessablef([]string{"label"}, "must be one line; put the rest into the note")
	}
	return checkNote("note", n.Note, maxNote)
}

func checkNote(member, text string, most int) error {
	switch {
	case !store.IsStorableText(text):
		return store.Unprocessablef([]string{member}, "must be UTF-8 text without NUL")
	case len(text) > most:
		return store.Unprocessablef([]string{member}, "must be at most %d bytes, got %d", most, len(text))
	}
	return nil
}

// ReleaseUpdate changes what is not part of what a release shows; nil keeps a member, and Nulls clears it.
type ReleaseUpdate struct {
	store.Nulls
	Label, Note *string
	Retained    *bool
}

// UpdateRelease changes the notes of a kept release, and whether it is retained: no sweep then deletes it, so that it
// can be served again at any time. NOT_FOUND for a release that is not kept; UNPROCESSABLE for notes that are too
// long; CONFLICT if the catalog has 20 retained releases.
func (s *Service) UpdateRelease(ctx context.Context, actor store.Actor, id string, update ReleaseUpdate) (*segment.Release, error) {
	missing := store.NotFoundf([]string{"release_id"}, "must be a release that is kept, got %q. catalogReleases lists them.", store.Abbreviate(id))
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, missing
	}
	if err := update.Apply(nil, map[string]func(){"label": store.Clear(&update.Label), "note": store.Clear(&update.Note), "retained": store.Clear(&update.Retained)}); err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*segment.Release, error) {
		// Locks the catalog's row before the release's, in the order of finishRelease.
		if _, err := t.Exec(ctx, `UPDATE catalog SET release_id = release_id WHERE id = (SELECT catalog_id FROM release WHERE id = $1)`, number); err != nil {
			return nil, err
		}
		r, err := segment.KeptRelease(ctx, t.Session, number)
		if store.HasCode(err, store.NotFound) {
			return nil, missing
		}
		if err != nil {
			return nil, err
		}
		if update.Retained != nil && *update.Retained && !r.Retained {
			retained, _, err := db.One(ctx, t.Session, db.Scalar[int], `SELECT COUNT(*) FROM release WHERE catalog_id = $1 AND retained AND state = $2`, r.CatalogID, catalog.ReleasePublished)
			if err != nil {
				return nil, err
			}
			if retained >= maxRetained {
				return nil, &store.Error{Code: store.Conflict, Path: []string{"retained"},
					Detail: fmt.Sprintf("cannot be set: the catalog %q has %d retained releases, the most there can be. Set it to false for one of them.", r.CatalogID, retained)}
			}
		}
		before := *r
		for _, member := range []struct{ to, from *string }{{&r.Label, update.Label}, {&r.Note, update.Note}} {
			if member.from != nil {
				*member.to = *member.from
			}
		}
		if update.Retained != nil {
			r.Retained = *update.Retained
		}
		if err := (ReleaseNotes{r.Label, r.Note}).check(); err != nil {
			return nil, err
		}
		n, err := t.Exec(ctx, `UPDATE release SET label = $2, note = $3, retained = $4 WHERE id = $1 AND state = $5`, r.ID, r.Label, r.Note, r.Retained, catalog.ReleasePublished)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, missing
		}
		if members := store.ChangedMembers(noteLine(&before), noteLine(r)); len(members) > 0 {
			t.Record(store.NewAuditEvent(store.AuditRelease, id, store.AuditUpdated, members...))
		}
		return r, s.db.BumpTopic(ctx, t, db.TopicCatalog) // servers keep the served releases in memory
	})
}

// noteLine is what UpdateRelease changes of a release, as JSON.
func noteLine(r *segment.Release) []byte {
	return store.Encode(map[string]any{"label": r.Label, "note": r.Note, "retained": r.Retained})
}
