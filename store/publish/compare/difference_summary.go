package compare

import (
	"strconv"
	"unicode/utf8"

	"portico/store"
)

// The bounds of a DifferenceSummary.
const (
	MaxSummarized     = 100       // changes
	maxSummaryBytes   = 256 << 10 // of all changes, about
	maxSummaryMembers = 50        // of a change
	maxSummaryValue   = 200       // characters of a value
)

// DifferenceSummary is Differences of a bounded size, for responses and results of jobs.
type DifferenceSummary struct {
	CatalogID string               `json:"catalog_id"`
	From      int64                `json:"from"`
	To        int64                `json:"to"`
	Total     int                  `json:"total"`
	Counts    []*KindCount         `json:"counts"`  // of the kinds that differ, in the order of DifferenceKinds
	Changes   []*DifferenceExcerpt `json:"changes"` // the first
}

// KindCount counts the resources of a kind that differ.
type KindCount struct {
	Kind ResourceKind `json:"kind"`
	DifferenceCount
}

// DifferenceExcerpt is a Difference whose values are cut.
type DifferenceExcerpt struct {
	Kind        ResourceKind           `json:"kind"`
	ID          string                 `json:"id"`
	Name        string                 `json:"name"`
	Effect      PendingEffect          `json:"effect"`
	Members     []*store.MemberExcerpt `json:"members"`      // the first 50, values cut after 200 characters
	MemberCount int                    `json:"member_count"` // of all
}

// FromUUID returns the number of the earlier release; nil if there is none.
func (s *DifferenceSummary) FromUUID() *string { return releaseNumber(s.From) }

// ToUUID returns the number of the later release; nil for the next publication.
func (s *DifferenceSummary) ToUUID() *string { return releaseNumber(s.To) }

// releaseNumber returns the number of a release as text; nil for 0.
func releaseNumber(id int64) *string {
	if id == 0 {
		return nil
	}
	return new(strconv.FormatInt(id, 10))
}

// Summary cuts the differences to at most 100 changes and about 256 KiB.
func (d *Differences) Summary() *DifferenceSummary {
	s := &DifferenceSummary{CatalogID: d.CatalogID, From: d.From, To: d.To, Total: d.Total(), Counts: []*KindCount{}, Changes: []*DifferenceExcerpt{}}
	for _, kind := range DifferenceKinds() {
		if count := d.Counts[kind]; count.Total() > 0 {
			s.Counts = append(s.Counts, &KindCount{kind, count})
		}
	}
	size := 0
	for _, one := range d.List[:min(len(d.List), MaxSummarized)] {
		e := &DifferenceExcerpt{Kind: one.Kind, ID: one.ID, Name: one.Name, Effect: one.Effect, Members: []*store.MemberExcerpt{}, MemberCount: len(one.Members)}
		for _, m := range one.Members[:min(len(one.Members), maxSummaryMembers)] {
			e.Members = append(e.Members, &store.MemberExcerpt{Path: m.Path, Before: excerpt(m.Before), After: excerpt(m.After)})
		}
		if size += len(store.Encode(e)); size > maxSummaryBytes && len(s.Changes) > 0 {
			break
		}
		s.Changes = append(s.Changes, e)
	}
	return s
}

// excerpt cuts a value, which is JSON, to maxSummaryValue characters; nil for a side that does not have it.
func excerpt(value []byte) *string {
	if value == nil {
		return nil
	}
	text := string(value)
	if utf8.RuneCountInString(text) > maxSummaryValue {
		text = string([]rune(text)[:maxSummaryValue-1]) + "…"
	}
	return &text
}
