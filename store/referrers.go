package store

import "strconv"

// MaxReferrers limits the resources that an error has.
const MaxReferrers = 10

// Referrers counts the resources that refer to another, and has the first MaxReferrers. An error is about at least one.
type Referrers struct {
	Count int
	First []Referrer
}

// Add counts a resource.
func (r *Referrers) Add(kind AuditKind, id string) {
	if r.Count++; len(r.First) < MaxReferrers {
		r.First = append(r.First, Referrer{kind, id})
	}
}

// AddAll counts others, which come after those of r.
func (r *Referrers) AddAll(others Referrers) {
	r.Count += others.Count
	r.First = append(r.First, others.First[:min(len(others.First), MaxReferrers-len(r.First))]...)
}

// String is: the node "mugs" and 2 more.
func (r *Referrers) String() string {
	first := "the " + r.First[0].Kind.Noun() + " " + strconv.Quote(r.First[0].ID)
	if r.Count > 1 {
		return first + " and " + strconv.Itoa(r.Count-1) + " more"
	}
	return first
}

// InUse returns UNPROCESSABLE for the member at path, which names what the resources refer to. format takes String.
func (r *Referrers) InUse(path []string, format string) *Error {
	e := Unprocessablef(path, format, r.String())
	e.Reason, e.Referrers = InUse, r.First
	return e
}
