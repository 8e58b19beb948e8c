package routing

import (
	"cmp"
	"slices"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// How the rules select a catalog (docs/architecture.md, decision 8): judge
// checks each rule by itself, better orders those that are left, and the first
// of them wins. All functions here depend on their arguments only.

// identityCriteria are the criteria that drop a rule when one is missed.
const identityCriteria = 1<<catalog.ByAccount | 1<<catalog.ByAccountTag | 1<<catalog.ByCustomer

// RuleDrop is the first reason why a rule cannot be chosen.
type RuleDrop string

// The reasons, in the order in which they are checked.
const (
	DropSchedule     RuleDrop = "out_of_schedule" // the time is in none of its schedules
	DropOtherShopper RuleDrop = "other_shopper"   // it is for another account, account tag or customer
	DropNoMatch      RuleDrop = "nothing_matched" // none of its criteria matched
	DropNotPublished RuleDrop = "not_published"   // its catalog has no release
)

// CriterionOutcome is the result of one criterion of a rule.
type CriterionOutcome string

// The outcomes.
const (
	CriterionMatched  CriterionOutcome = "matched"
	CriterionMissed   CriterionOutcome = "missed"
	CriterionNotAsked CriterionOutcome = "not_asked" // the rule does not have the criterion
)

// TieBreak is what decided between two rules of the same score.
type TieBreak string

// The tie breaks, in the order in which they are tried.
const (
	TieFewestMissed  TieBreak = "fewest_missed"  // fewer criteria missed
	TieOldest        TieBreak = "oldest"         // created earlier
	TieImportedFirst TieBreak = "imported_first" // imported first, of those created at the same time
	TieSmallestID    TieBreak = "smallest_id"
)

// ResolutionReason is why a catalog was selected.
type ResolutionReason string

// The reasons.
const (
	ResolvedByRule    ResolutionReason = "rule"              // its rule ranks first
	ResolvedByDefault ResolutionReason = "default_rule"      // a rule without criteria ranks first
	ResolvedByAge     ResolutionReason = "oldest_catalog"    // every rule was dropped
	ResolvedToNothing ResolutionReason = "nothing_published" // no catalog has a release
	ResolvedByRequest ResolutionReason = "requested_release" // the shopper requested a release by its id
)

// CatalogResolution says which catalog a shopper sees, and why.
type CatalogResolution struct {
	At         time.Time
	ValidUntil time.Time // when a schedule may next change the result; zero for never
	Reason     ResolutionReason
	Catalog    *catalog.Catalog // nil when nothing is published
	Release    *segment.Release // nil when nothing is published
	Rule       *catalog.Rule    // nil unless a rule selected the catalog
	TieBreak   TieBreak         // empty unless two rules have the highest score
	Candidates []*RuleVerdict   // all rules: those not dropped, best first, then the dropped ones, oldest first
}

// RuleVerdict is the result of checking a rule for a shopper at a time.
type RuleVerdict struct {
	Rule    *catalog.Rule
	Score   int      // criteria matched
	Missed  int      // criteria missed
	Dropped RuleDrop // empty when the rule can be chosen

	matched, missed, asked int  // bits by criterion
	scheduled              bool // the time is in one of its schedules, or it has none
}

// Default reports whether the rule has no criteria.
func (v *RuleVerdict) Default() bool { return v.asked == 0 }

// Foreign reports whether the rule is for other accounts or customers. Do not
// show the shopper which.
func (v *RuleVerdict) Foreign() bool { return v.missed&identityCriteria != 0 }

// outcome returns the result of one criterion.
func (v *RuleVerdict) outcome(c catalog.Criterion) CriterionOutcome {
	switch {
	case v.asked&(1<<c) == 0:
		return CriterionNotAsked
	case v.matched&(1<<c) != 0:
		return CriterionMatched
	}
	return CriterionMissed
}

// Account returns the outcome of the criterion account; the others likewise.
func (v *RuleVerdict) Account() CriterionOutcome    { return v.outcome(catalog.ByAccount) }
func (v *RuleVerdict) AccountTag() CriterionOutcome { return v.outcome(catalog.ByAccountTag) }
func (v *RuleVerdict) Customer() CriterionOutcome   { return v.outcome(catalog.ByCustomer) }
func (v *RuleVerdict) Channel() CriterionOutcome    { return v.outcome(catalog.ByChannel) }
func (v *RuleVerdict) Tag() CriterionOutcome        { return v.outcome(catalog.ByTag) }

// Schedule returns whether the time is in one of the rule's schedules.
func (v *RuleVerdict) Schedule() CriterionOutcome {
	switch {
	case len(v.Rule.Schedules) == 0:
		return CriterionNotAsked
	case v.scheduled:
		return CriterionMatched
	}
	return CriterionMissed
}

// profile holds a shopper's values for each criterion; ids are canonical.
type profile [catalog.Criteria][]string

// profile returns the shopper's values; nil for criteria without any.
func (s ShopperContext) profile() (p profile) {
	p[catalog.ByAccount], p[catalog.ByAccountTag], p[catalog.ByCustomer] = canonicalIDs(s.AccountID), canonicalIDs(s.AccountTags...), canonicalIDs(s.CustomerID)
	p[catalog.ByTag] = s.Tags
	if s.Channel != "" {
		p[catalog.ByChannel] = []string{s.Channel}
	}
	return p
}

// canonicalIDs returns the valid ids in the form that rules use.
func canonicalIDs(ids ...string) (list []string) {
	for _, id := range ids {
		if canonical, ok := store.CanonicalID(id); ok {
			list = append(list, canonical)
		}
	}
	return list
}

// judge checks a rule for a shopper; published is whether its catalog is. It counts all criteria, and then drops the rule for
// the first reason in the order of RuleDrop.
func judge(r *catalog.Rule, p *profile, at time.Time, published bool) RuleVerdict {
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

// better compares two rules that can be chosen: order is below zero when v
// ranks first, and by is what decided between equal scores. A rule without
// criteria has no score and ranks last.
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

// bestRule returns the rule that ranks first; ok is false when every rule is
// dropped.
func bestRule(rules []*catalog.Rule, shopper ShopperContext, at time.Time, published func(catalogID string) bool) (best RuleVerdict, ok bool) {
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

// verdicts returns all rules in the order of CatalogResolution.Candidates, and
// when a schedule may next change the result.
func verdicts(rules []*catalog.Rule, shopper ShopperContext, at time.Time, published func(catalogID string) bool) (list []*RuleVerdict, until time.Time) {
	p := shopper.profile()
	for _, rule := range rules {
		v := judge(rule, &p, at, published(rule.CatalogID))
		list = append(list, &v)
		if !v.Foreign() && (v.Default() || v.Score > 0) { // any other rule cannot be chosen at another time either
			until = nextEdge(rule, at, until)
		}
	}
	slices.SortFunc(list, func(v, w *RuleVerdict) int {
		if (v.Dropped == "") != (w.Dropped == "") {
			return cmp.Compare(len(v.Dropped), len(w.Dropped)) // the empty one first
		}
		if v.Dropped == "" {
			order, _ := v.better(w)
			return order
		}
		return cmp.Or(v.Rule.CreatedAt.Compare(w.Rule.CreatedAt), cmp.Compare(v.Rule.Sequence, w.Rule.Sequence), cmp.Compare(v.Rule.ID, w.Rule.ID))
	})
	return list, until
}

// nextEdge returns the first start or end of a schedule after a time, or until
// if that is earlier.
func nextEdge(r *catalog.Rule, at, until time.Time) time.Time {
	for _, schedule := range r.Schedules {
		for _, edge := range []time.Time{schedule.From, schedule.To} {
			if edge.After(at) && (until.IsZero() || edge.Before(until)) {
				until = edge
			}
		}
	}
	return until
}

// tieBreak returns what decided between the first two; empty without a tie.
func tieBreak(list []*RuleVerdict) TieBreak {
	if len(list) < 2 || list[1].Dropped != "" {
		return ""
	}
	_, by := list[0].better(list[1])
	return by
}
