package discount

import (
	"slices"

	"portico/store/promotion/rule"
)

// applied is what an application takes off a cart, by line in the order of Cart: the most expensive units first.
type applied struct {
	of           *application
	off          []int64
	used         []int // units that take part; nil for a promotion of the whole cart
	applications int
	total        int64 // the sum of off
}

// stepsOfLine are the steps of applying a promotion to a line, with the memory for it.
const stepsOfLine = 64

// use applies a promotion of items to the units that are left; nil if it takes nothing off.
func (c *Cart) use(a *application, left []int) *applied {
	if !c.step(stepsOfLine * len(left)) {
		return nil
	}
	d := &applied{of: a, off: make([]int64, len(left)), used: make([]int, len(left))}
	switch a.p.Type {
	case rule.ItemFixedDiscount, rule.ItemPercentDiscount:
		c.offUnits(d, left)
	case rule.XForY:
		c.xForY(d, left)
	case rule.XForAmount:
		c.xForAmount(d, left)
	case rule.BundleFixedDiscount, rule.BundleGift:
		c.bundles(d, left)
	}
	for _, minor := range d.off {
		d.total += minor
	}
	if capped := a.p.Capped(d.total, c.currency); capped < d.total {
		d.off, d.total = divide(capped, d.off), capped
	}
	if d.total <= 0 || c.err != nil {
		return nil
	}
	return d
}

// offUnits takes an amount or a percentage off units, the most expensive first, which is the order of the lines.
func (c *Cart) offUnits(d *applied, left []int) {
	for i, n := range left {
		n = min(n, d.of.limit-d.applications)
		if !d.of.wanted[i] || n <= 0 {
			continue
		}
		off := min(d.of.amount, c.lines[i].Unit) * int64(n)
		if d.of.p.Type == rule.ItemPercentDiscount {
			off = d.of.percent.Of(c.lines[i].Unit * int64(n))
		}
		if off > 0 {
			d.off[i], d.used[i], d.applications = off, n, d.applications+n
		}
	}
}

// xForY makes the cheapest units of each group of x free.
func (c *Cart) xForY(d *applied, left []int) {
	x, y := d.of.terms.X, d.of.terms.Y
	units := 0
	for i, n := range left {
		if d.of.wanted[i] && c.lines[i].Unit > 0 {
			units += n
		}
	}
	if y < 1 || x <= y {
		return
	}
	groups := min(units/x, d.of.limit)
	free := func(units int) int { return units/x*(x-y) + max(0, units%x-y) } // of the first units of all groups
	from := 0                                                                // units before the line
	for i, n := range left {
		n = min(n, groups*x-from)
		if !d.of.wanted[i] || c.lines[i].Unit == 0 || n <= 0 {
			continue
		}
		d.used[i], d.off[i] = n, int64(free(from+n)-free(from))*c.lines[i].Unit
		from += n
	}
	d.applications = groups
}

// xForAmount lowers the price of each group of x to the amount, if it is higher.
func (c *Cart) xForAmount(d *applied, left []int) {
	amount, x := d.of.amount, d.of.terms.X
	if _, ok := d.of.p.AmountIn(c.currency); !ok || x < 1 {
		return
	}
	group, size := make([]int, len(left)), 0 // units of a group of several lines
	for i, n := range left {
		if !d.of.wanted[i] {
			continue
		}
		for n > 0 && d.applications < d.of.limit {
			if size == 0 && n >= x { // groups of this line alone
				groups := min(n/x, d.of.limit-d.applications)
				off := c.lines[i].Unit*int64(x) - amount
				if off <= 0 {
					return // nor do later groups cost more than the amount: units get cheaper
				}
				d.take(i, groups*x, off*int64(groups))
				d.applications, n = d.applications+groups, n-groups*x
				continue
			}
			taken := min(n, x-size)
			group[i], size, n = taken, size+taken, n-taken
			if size < x {
				continue
			}
			off := c.price(group) - amount
			if off <= 0 {
				return // as above
			}
			d.takeAll(c, group, 1, off)
			d.applications, size = d.applications+1, 0
			clear(group)
		}
	}
}

// bundles takes an amount off bundles, or makes gifts free with them, until one takes nothing off. Equal bundles are applied at once.
func (c *Cart) bundles(d *applied, left []int) {
	gift := d.of.p.Type == rule.BundleGift
	if len(d.of.required) == 0 {
		return
	}
	left = slices.Clone(left)
	picked, free := make([]int, len(left)), make([]int, len(left))
	for d.applications < d.of.limit {
		if !c.pickBundle(d.of, left, picked, free) {
			return
		}
		off := c.price(free)
		if !gift {
			off = min(d.of.amount, c.price(picked))
		}
		if off <= 0 {
			return
		}
		// The next bundle is the same until a line has too few units: pick takes the first lines that have any.
		times := d.of.limit - d.applications
		for i := range left {
			if n := picked[i] + free[i]; n > 0 {
				times = min(times, left[i]/n)
			}
		}
		for i := range left {
			left[i] -= (picked[i] + free[i]) * times
		}
		if gift {
			d.takeAll(c, free, times, off)
			for i, n := range picked {
				d.used[i] += n * times
			}
		} else {
			d.takeAll(c, picked, times, off)
		}
		d.applications += times
	}
}

// pickBundle picks the units of a bundle, and those of its gifts that are left besides. A gift that the bundle itself needs is
// not free. It returns false if there are too few units for a bundle, or if the calculation must end.
func (c *Cart) pickBundle(a *application, left, picked, free []int) bool {
	required := func() bool {
		clear(picked)
		for _, r := range a.required {
			if !c.step(1+len(r.lines)) || !pick(picked, left, free, r.lines, r.quantity) {
				return false
			}
		}
		return true
	}
	clear(free)
	if !c.step(stepsOfLine*len(left)) || !required() {
		return false
	}
	for _, lines := range a.gifts {
		at := slices.IndexFunc(lines, func(i int) bool { return left[i] > free[i] })
		if at < 0 {
			continue
		}
		gift := lines[at]
		free[gift]++
		// If the bundle uses this unit, pick the bundle again from the others. If that fails, the unit is not free.
		if picked[gift]+free[gift] > left[gift] && !required() {
			free[gift]--
			required()
		}
		if c.err != nil {
			return false
		}
	}
	return true
}

// pick takes units from the first of some lines that have any left, in addition to what was taken from
// them. It returns false if there are too few.
func pick(into, left, taken, lines []int, quantity int) bool {
	for _, i := range lines {
		n := min(quantity, left[i]-taken[i]-into[i])
		into[i], quantity = into[i]+n, quantity-n
	}
	return quantity == 0
}

// price returns the price of some units of each line.
func (c *Cart) price(units []int) (minor int64) {
	for i, n := range units {
		minor += c.lines[i].Unit * int64(n)
	}
	return minor
}

// take takes an amount off units of a line.
func (d *applied) take(i, units int, off int64) {
	d.used[i] += units
	d.off[i] += off
}

// takeAll takes an amount off some units of each line, several times, divided by the price of the units.
func (d *applied) takeAll(c *Cart, units []int, times int, off int64) {
	var lines []int
	var prices []int64
	for i, n := range units {
		if n > 0 {
			lines, prices = append(lines, i), append(prices, c.lines[i].Unit*int64(n))
		}
	}
	for k, share := range divide(off, prices) {
		d.take(lines[k], units[lines[k]]*times, share*int64(times))
	}
}
