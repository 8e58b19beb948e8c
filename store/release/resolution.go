package release

import (
	"cmp"
	"slices"
	"time"

	"portico/store"
	"portico/store/catalog"
)

// Which catalog a shopper sees (DESIGN 8: Rule resolution): a rule is judged
// by itself, the rules that are left are compared in pairs, and the first of
// them wins. Nothing here reads anything but its arguments.

// identityCriteria marks the criteria of which none may be missed.
const identityCriteria = 1<<catalog.ByAccount | 1<<catalog.ByAccountTag | 1<<catalog.ByCustomer

// RuleDrop is why a rule could not be chosen, the first of these.
type RuleDrop string

// The reasons.
const (
	DropSchedule     RuleDrop = "out_of_schedule" // all its schedules are outside the time
	DropOtherShopper RuleDrop = "other_shopper"   // it is for another account, account tag or customer
	DropNoMatch      RuleDrop = "nothing_matched" // none of its criteria matched
	DropNotPublished RuleDrop = "not_published"   // its catalog has no release
)

// CriterionOutcome is what came of one criterion.
type CriterionOutcome string

// The outcomes.
const (
	CriterionMatched  CriterionOutcome = "matched"
	CriterionMissed   CriterionOutcome = "missed"
	CriterionNotAsked CriterionOutcome = "not_asked" // an empty criterion, which fits all
)

// TieBreak is what decided between rules of the same score.
type TieBreak string

// The tie breaks, in the order in which they are tried.
const (
	TieFewestMissed  TieBreak = "fewest_missed"  // fewer criteria missed
	TieOldest        TieBreak = "oldest"         // made earlier
	TieImportedFirst TieBreak = "imported_first" // imported or created earlier, at the same time of making
	TieSmallestID    TieBreak = "smallest_id"
)

// ResolutionReason is why a catalog was chosen.
type ResolutionReason string

// The reasons.
const (
	ResolvedByRule    ResolutionReason = "rule"              // its rule matched best
	ResolvedByDefault ResolutionReason = "default_rule"      // no rule with criteria was left
	ResolvedByAge     ResolutionReason = "oldest_catalog"    // no rule was left at all
	ResolvedToNothing ResolutionReason = "nothing_published" // no catalog has a release
	ResolvedByRequest ResolutionReason = "requested_release" // the shopper asked for one, whatever the rules say
)

// CatalogResolution explains which catalog a shopper sees, and why.
type CatalogResolution struct {
	At         time.Time
	ValidUntil time.Time // the next time at which a schedule may decide otherwise; zero when none will
	Reason     ResolutionReason
	Catalog    *catalog.Catalog     // nil when nothing is published
	Release    *Release             // nil when nothing is published
	Rule       *catalog.CatalogRule // nil unless one decided
	TieBreak   TieBreak             // empty unless another rule had the same score
	Candidates []*RuleVerdict       // every rule: those that could be chosen, best first, then the others, oldest first
}

// RuleVerdict is a rule held against a shopper at a time.
type RuleVerdict struct {
	Rule    *catalog.CatalogRule
	Score   int      // criteria matched
	Missed  int      // criteria missed
	Dropped RuleDrop // empty when the rule could be chosen

	matched, missed, asked int // bits by criterion
	scheduled              bool
}

// Default tells whether the rule has no criteria.
func (v *RuleVerdict) Default() bool { return v.asked == 0 }

// Foreign tells whether the rule is for other shoppers than this one, who must
// not learn which.
func (v *RuleVerdict) Foreign() bool { return v.missed&identityCriteria != 0 }

func (v *RuleVerdict) outcome(c catalog.Criterion) CriterionOutcome {
	switch {
	case v.asked&(1<<c) == 0:
		return CriterionNotAsked
	case v.matched&(1<<c) != 0:
		return CriterionMatched
	}
	return CriterionMissed
}

// Account is the outcome of the account criterion, and so on.
func (v *RuleVerdict) Account() CriterionOutcome    { return v.outcome(catalog.ByAccount) }
func (v *RuleVerdict) AccountTag() CriterionOutcome { return v.outcome(catalog.ByAccountTag) }
func (v *RuleVerdict) Customer() CriterionOutcome   { return v.outcome(catalog.ByCustomer) }
func (v *RuleVerdict) Channel() CriterionOutcome    { return v.outcome(catalog.ByChannel) }
func (v *RuleVerdict) Tag() CriterionOutcome        { return v.outcome(catalog.ByTag) }

// Schedule tells whether one of the rule's schedules is on.
func (v *RuleVerdict) Schedule() CriterionOutcome {
	switch {
	case len(v.Rule.Schedules) == 0:
		return CriterionNotAsked
	case v.scheduled:
		return CriterionMatched
	}
	return CriterionMissed
}

// profile is what a shopper has for each criterion; ids are canonical.
type profile [catalog.Criteria][]string

func (s ShopperContext) profile() (p profile) {
	p[catalog.ByAccount], p[catalog.ByAccountTag], p[catalog.ByCustomer] = canonicalIDs(s.AccountID), canonicalIDs(s.AccountTags...), canonicalIDs(s.CustomerID)
	p[catalog.ByTag] = s.Tags
	if s.Channel != "" {
		p[catalog.ByChannel] = []string{s.Channel}
	}
	return p
}

// canonicalIDs are ids as rules have them, without what is no id.
func canonicalIDs(ids ...string) (list []string) {
	for _, id := range ids {
		if canonical, ok := store.CanonicalID(id); ok {
			list = append(list, canonical)
		}
	}
	return list
}

// judge holds a rule against a shopper.
func judge(r *catalog.CatalogRule, p *profile, at time.Time, published bool) RuleVerdict {
	v := RuleVerdict{Rule: r, scheduled: len(r.Schedules) == 0 || slices.ContainsFunc(r.Schedules, func(s catalog.Schedule) bool { return s.Contains(at) })}
	for c, wanted := range r.Values {
		if wanted == nil {
			continue
		}
		v.asked |= 1 << c
		if slices.ContainsFunc(p[c], func(value string) bool { return wanted[value] }) {
			v.matched |= 1 << c
			v.Score++
		} else {
			v.missed |= 1 << c
			v.Missed++
		}
	}
	switch {
	case !v.scheduled:
		v.Dropped = DropSchedule
	case v.Foreign():
		v.Dropped = DropOtherShopper
	case v.asked != 0 && v.matched == 0:
		v.Dropped = DropNoMatch
	case !published:
		v.Dropped = DropNotPublished
	}
	return v
}

// better is below zero when v is to be chosen before w, both of which could
// be; by says what decided at the same score. A default has no score, and so
// comes after all others.
func (v *RuleVerdict) better(w *RuleVerdict) (order int, by TieBreak) {
	if order := cmp.Compare(w.Score, v.Score); order != 0 {
		return order, ""
	}
	for _, tie := range []struct {
		order int
		by    TieBreak
	}{
		{cmp.Compare(v.Missed, w.Missed), TieFewestMissed},
		{v.Rule.CreatedAt.Compare(w.Rule.CreatedAt), TieOldest},
		{cmp.Compare(v.Rule.Sequence, w.Rule.Sequence), TieImportedFirst},
		{cmp.Compare(v.Rule.ID, w.Rule.ID), TieSmallestID},
	} {
		if tie.order != 0 {
			return tie.order, tie.by
		}
	}
	return 0, ""
}

// bestRule returns the verdict that wins; ok is false when no rule can be
// chosen.
func bestRule(rules []*catalog.CatalogRule, shopper ShopperContext, at time.Time, published func(catalogID string) bool) (best RuleVerdict, ok bool) {
	p := shopper.profile()
	for _, rule := range rules {
		v := judge(rule, &p, at, published(rule.CatalogID))
		if v.Dropped != "" {
			continue
		}
		if ok {
			if order, _ := v.better(&best); order > 0 {
				continue
			}
		}
		best, ok = v, true
	}
	return best, ok
}

// verdicts are all rules as CatalogResolution lists them, and the next time at
// which a schedule may change who is chosen.
func verdicts(rules []*catalog.CatalogRule, shopper ShopperContext, at time.Time, published func(catalogID string) bool) (list []*RuleVerdict, until time.Time) {
	p := shopper.profile()
	for _, rule := range rules {
		v := judge(rule, &p, at, published(rule.CatalogID))
		list = append(list, &v)
		if !v.Foreign() && (v.Default() || v.Score > 0) {
			until = nextEdge(rule, at, until)
		}
	}
	slices.SortFunc(list, func(v, w *RuleVerdict) int {
		if (v.Dropped == "") != (w.Dropped == "") {
			return cmp.Compare(len(v.Dropped), len(w.Dropped))
		}
		if v.Dropped == "" {
			order, _ := v.better(w)
			return order
		}
		return cmp.Or(v.Rule.CreatedAt.Compare(w.Rule.CreatedAt), cmp.Compare(v.Rule.Sequence, w.Rule.Sequence), cmp.Compare(v.Rule.ID, w.Rule.ID))
	})
	return list, until
}

// nextEdge is the first begin or end of a schedule after a time, unless until
// is before it.
func nextEdge(r *catalog.CatalogRule, at, until time.Time) time.Time {
	for _, schedule := range r.Schedules {
		for _, edge := range []time.Time{schedule.From, schedule.To} {
			if edge.After(at) && (until.IsZero() || edge.Before(until)) {
				until = edge
			}
		}
	}
	return until
}

// tieBreak is what decided between the first two; empty without a tie.
func tieBreak(list []*RuleVerdict) TieBreak {
	if len(list) < 2 || list[1].Dropped != "" {
		return ""
	}
	_, by := list[0].better(list[1])
	return by
}
