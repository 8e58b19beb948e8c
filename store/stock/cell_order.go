package stock

import (
	"slices"
	"sort"
)

// cellOrder holds the numbers of all cells sorted by id, in runs of up to 512, so that an
// insert moves few of them.
type cellOrder struct{ runs [][]uint32 }

const maxRun = 512 // numbers in a run

// add inserts the number of a cell whose id is not there. A full run is split in two, unless the id comes after all others.
func (o *cellOrder) add(c *stockCells, place uint32, id string) {
	run, at := o.seek(c, id)
	if run == len(o.runs) { // after all others
		if run == 0 || len(o.runs[run-1]) == maxRun { // ids that come in order fill the runs
			o.runs = append(o.runs, append(make([]uint32, 0, maxRun), place))
			return
		}
		run--
		at = len(o.runs[run])
	}
	if len(o.runs[run]) == maxRun {
		half := maxRun / 2
		o.runs = slices.Insert(o.runs, run+1, append(make([]uint32, 0, maxRun), o.runs[run][half:]...))
		o.runs[run] = o.runs[run][:half]
		if at > half {
			run, at = run+1, at-half
		}
	}
	o.runs[run] = slices.Insert(o.runs[run], at, place)
}

// remove deletes an id that is present.
func (o *cellOrder) remove(c *stockCells, id string) {
	run, at := o.seek(c, id)
	o.runs[run] = slices.Delete(o.runs[run], at, at+1)
	if len(o.runs[run]) == 0 {
		o.runs = slices.Delete(o.runs, run, run+1)
	}
}

// seek finds the first id not less than the given one; run is len(o.runs) if there is none.
func (o *cellOrder) seek(c *stockCells, id string) (run, at int) {
	run = sort.Search(len(o.runs), func(i int) bool {
		return string(c.id(o.runs[i][len(o.runs[i])-1])) >= id
	})
	if run < len(o.runs) {
		places := o.runs[run]
		at = sort.Search(len(places), func(i int) bool { return string(c.id(places[i])) >= id })
	}
	return run, at
}

// rank is the number of ids less than the given one, or less or equal.
func (o *cellOrder) rank(c *stockCells, id string, equal bool) int {
	run, at := o.seek(c, id)
	rank := at
	for _, places := range o.runs[:run] {
		rank += len(places)
	}
	if equal && run < len(o.runs) && string(c.id(o.runs[run][at])) == id {
		rank++
	}
	return rank
}

// span copies numbers from a rank on, as many as into has room for, and returns how many.
func (o *cellOrder) span(into []uint32, rank int) (n int) {
	for _, places := range o.runs {
		if rank >= len(places) {
			rank -= len(places)
			continue
		}
		n += copy(into[n:], places[rank:])
		if rank = 0; n == len(into) {
			break
		}
	}
	return n
}
