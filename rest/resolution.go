package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
)

const (
	resolutionHeader = "Store-Catalog-Resolution"
	maxResolution    = 4096 // bytes; candidates that find no room are counted
)

// resolutionBody is the explanation in a header: catalogResolution of GraphQL, with
// ids alone, which are ASCII.
type resolutionBody struct {
	Reason     release.ResolutionReason `json:"reason"`
	Catalog    *string                  `json:"catalog"`
	Release    *string                  `json:"release"`
	Rule       *string                  `json:"rule"`
	TieBreak   *release.TieBreak        `json:"tie_break,omitempty"`
	ValidUntil string                   `json:"valid_until,omitempty"`
	Candidates []json.RawMessage        `json:"candidates"`
	More       int                      `json:"more,omitempty"` // candidates left out
}

// resolutionCandidate is a rule. That of another shopper has no ids.
type resolutionCandidate struct {
	Rule    *string           `json:"rule,omitempty"`
	Catalog *string           `json:"catalog,omitempty"`
	Score   int               `json:"score"`
	Matched []string          `json:"matched,omitempty"`
	Missed  []string          `json:"missed,omitempty"`
	Dropped *release.RuleDrop `json:"dropped,omitempty"`
}

// explain tells in a header which catalog the answer is from, and why, where
// the request asks for it by Prefer: explain. An answer that there is no such
// node tells it, too.
func (a *API) explain(w http.ResponseWriter, r *http.Request) error {
	if !isCatalogPath(r) || !prefers(r, "explain") {
		return nil
	}
	x, err := a.resolver.Query().CatalogResolution(r.Context(), nil, nil)
	if err != nil {
		return err
	}
	w.Header().Set(resolutionHeader, resolutionHeaderValue(x))
	w.Header().Set("Preference-Applied", "explain")
	return nil
}

// prefers tells whether one of the request's preferences is this one (RFC
// 7240); its value and parameters do not matter.
func prefers(r *http.Request, preference string) bool {
	for _, line := range r.Header.Values("Prefer") {
		for entry := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(entry, ";")
			name, _, _ = strings.Cut(name, "=")
			if strings.EqualFold(strings.TrimSpace(name), preference) {
				return true
			}
		}
	}
	return false
}

// resolutionHeaderValue is the header's value, at most maxResolution bytes.
func resolutionHeaderValue(x *model.CatalogResolution) string {
	line := resolutionBody{Reason: x.Reason, Catalog: x.CatalogID(), Release: x.ReleaseID(), Rule: x.RuleID(),
		TieBreak: x.TieBreak(), Candidates: []json.RawMessage{}, More: len(x.Candidates)}
	if !x.ValidUntil.IsZero() {
		line.ValidUntil = x.ValidUntil.UTC().Format(time.RFC3339Nano)
	}
	room := maxResolution - len(store.Encode(line))
	for _, c := range x.Candidates {
		text := store.Encode(newResolutionCandidate(c))
		if room -= len(text) + 1; room < 0 {
			break
		}
		line.Candidates = append(line.Candidates, text)
		line.More--
	}
	return string(store.Encode(line))
}

func newResolutionCandidate(c *model.CatalogCandidate) resolutionCandidate {
	shown := resolutionCandidate{Rule: c.RuleID(), Catalog: c.CatalogID(), Score: c.Score, Dropped: c.Dropped()}
	for _, criterion := range []struct {
		name    string
		outcome release.CriterionOutcome
	}{
		{"schedule", c.Schedule()}, {"account", c.Account()}, {"account_tag", c.AccountTag()},
		{"customer", c.Customer()}, {"channel", c.Channel()}, {"tag", c.Tag()},
	} {
		switch criterion.outcome {
		case release.CriterionMatched:
			shown.Matched = append(shown.Matched, criterion.name)
		case release.CriterionMissed:
			shown.Missed = append(shown.Missed, criterion.name)
		}
	}
	return shown
}
