package discount

import (
	"cmp"
	"slices"
)

// maxTried is the number of competing promotions that are tried in every order: 64 applications.
const maxTried = 4

// bestOfItems returns the discounts of the promotions of items. Promotions that share no line do not
// compete.
func (c *Cart) bestOfItems(items []*application) (list []*applied) {
	units := make([]int, len(c.lines))
	for i, l := range c.lines {
		units[i] = l.Quantity
	}
	var useful []*applied // each alone
	for _, a := range items {
		if d := c.use(a, units); d != nil {
			useful = append(useful, d)
		}
	}
	for _, group := range competing(useful, len(c.lines)) {
		list = append(list, c.bestOfCompeting(group, units)...)
	}
	return list
}

// competing divides promotions into groups that share lines, directly or by others. Each group is in the order of alone. lines is the
// number of lines of the cart.
func competing(alone []*applied, lines int) (groups [][]*applied) {
	group := make([]int, lines) // of each line, 1 and more
	for _, d := range alone {
		groups = append(groups, []*applied{d})
		for i, wanted := range d.of.wanted {
			if !wanted {
				continue
			}
			if other := group[i]; other != 0 && other != len(groups) { // joins this group
				groups[len(groups)-1] = append(groups[other-1], groups[len(groups)-1]...)
				groups[other-1] = nil
				for k := range group {
					if group[k] == other {
						group[k] = len(groups)
					}
				}
			}
			group[i] = len(groups)
		}
	}
	return slices.DeleteFunc(groups, func(g []*applied) bool { return g == nil })
}

// bestOfCompeting returns the discounts of competing promotions in the order that takes off the most. alone
// has what each takes off alone. It tries every order of the maxTried largest; the others follow, the largest first.
func (c *Cart) bestOfCompeting(alone []*applied, units []int) []*applied {
	largestFirst := func(a, b *applied) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.of.p.ID, b.of.p.ID))
	}
	slices.SortFunc(alone, largestFirst)
	first := min(len(alone), maxTried)
	s := &search{Cart: c}
	s.try(slices.SortedFunc(slices.Values(alone[:first]), func(a, b *applied) int { return cmp.Compare(a.of.p.ID, b.of.p.ID) }), units, nil, 0)
	left := units
	for _, d := range s.best {
		left = without(left, d.used)
	}
	for _, next := range alone[first:] {
		if d := c.use(next.of, left); d != nil {
			left, s.best = without(left, d.used), append(s.best, d)
		}
	}
	return s.best
}

// search finds the best order of promotions.
type search struct {
	*Cart
	best  []*applied
	total int64 // of best
}

// try tries the promotions in every order after those that were done, and keeps the first of the best
// orders.
func (s *search) try(promotions []*applied, left []int, done []*applied, total int64) {
	if len(promotions) == 0 {
		if total > s.total {
			s.best, s.total = done, total
		}
		return
	}
	for i, next := range promotions {
		others := slices.Concat(promotions[:i], promotions[i+1:])
		if d := s.use(next.of, left); d != nil {
			s.try(others, without(left, d.used), append(done[:len(done):len(done)], d), total+d.total)
		} else {
			s.try(others, left, done, total)
		}
	}
}

// without returns the units that are left after some were used.
func without(left, used []int) []int {
	list := make([]int, len(left))
	for i, n := range left {
		list[i] = n - used[i]
	}
	return list
}
