package rest

import (
	"encoding/json"
	"net/http"
	"time"

	"portico/graph/model"
	"portico/internal/web"
	"portico/store"
	"portico/store/release/routing"
)

const (
	resolutionHeader = "Store-Catalog-Resolution"
	maxResolution    = 4096 // bytes; candidates beyond it are only counted
)

// resolutionBody is CatalogResolution of GraphQL as a header value, with ids only, which
// are ASCII.
type resolutionBody struct {
	Reason     routing.ResolutionReason `json:"reason"`
	Catalog    *string                  `json:"catalog"`
	Release    *string                  `json:"release"`
	Rule       *string                  `json:"rule"`
	TieBreak   *routing.TieBreak        `json:"tie_break,omitempty"`
	ValidUntil string                   `json:"valid_until,omitempty"`
	Candidates []json.RawMessage        `json:"candidates"`
	More       int                      `json:"more,omitempty"` // candidates left out
}

// resolutionCandidate is a rule.
type resolutionCandidate struct {
	Rule    string            `json:"rule"`
	Catalog string            `json:"catalog"`
	Score   int               `json:"score"`
	Matched []string          `json:"matched,omitempty"`
	Missed  []string          `json:"missed,omitempty"`
	Dropped *routing.RuleDrop `json:"dropped,omitempty"`
}

// explain sets the header Store-Catalog-Resolution if the request has Prefer: explain and a token that may see the rules: without
// one the preference is ignored. Error responses have the header too.
func (a *API) explain(w http.ResponseWriter, r *http.Request) error {
	if web.FirstSegment(r.URL) != "catalog" || !prefers(r, "explain") {
		return nil
	}
	resolution, err := a.resolver.Query().CatalogResolution(r.Context(), nil, nil)
	switch {
	case store.HasCode(err, store.Forbidden):
		return nil
	case err != nil:
		return err
	}
	w.Header().Set(resolutionHeader, resolutionHeaderValue(resolution))
	w.Header().Set("Preference-Applied", "explain")
	return nil
}

// resolutionHeaderValue returns the header's value, at most maxResolution bytes. More counts the candidates that do not fit.
func resolutionHeaderValue(resolution *model.CatalogResolution) string {
	value := resolutionBody{Reason: resolution.Reason, TieBreak: resolution.TieBreak(), Candidates: []json.RawMessage{}, More: len(resolution.Candidates)}
	if resolution.Release != nil {
		value.Catalog, value.Release = &resolution.Release.CatalogID, new(resolution.Release.UUID())
	}
	if resolution.Rule != nil {
		value.Rule = &resolution.Rule.ID
	}
	if !resolution.ValidUntil.IsZero() {
		value.ValidUntil = resolution.ValidUntil.UTC().Format(time.RFC3339Nano)
	}
	room := maxResolution - len(store.Encode(value))
	for _, c := range resolution.Candidates {
		text := store.Encode(newResolutionCandidate(c))
		if room -= len(text) + 1; room < 0 {
			break
		}
		value.Candidates = append(value.Candidates, text)
		value.More--
	}
	return string(store.Encode(value))
}

func newResolutionCandidate(c *model.CatalogCandidate) resolutionCandidate {
	shown := resolutionCandidate{Rule: c.Rule.ID, Catalog: c.Rule.CatalogID, Score: c.Score, Dropped: c.Dropped()}
	for _, criterion := range []struct {
		name    string
		outcome routing.CriterionOutcome
	}{
		{"schedule", c.Schedule()}, {"account", c.Account()}, {"account_tag", c.AccountTag()},
		{"customer", c.Customer()}, {"channel", c.Channel()}, {"tag", c.Tag()},
	} {
		switch criterion.outcome {
		case routing.CriterionMatched:
			shown.Matched = append(shown.Matched, criterion.name)
		case routing.CriterionMissed:
			shown.Missed = append(shown.Missed, criterion.name)
		}
	}
	return shown
}
