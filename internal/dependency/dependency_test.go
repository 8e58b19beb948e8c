package dependency_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/dependency"
)

func key(name string) dependency.Key { return dependency.NewKey('p', name) }

func changes(keys ...dependency.Key) *dependency.Changes {
	c := &dependency.Changes{}
	c.Add(keys...)
	return c
}

// A key is stored in databases and sent between servers, so it must never change.
func TestKeysStayTheSame(t *testing.T) {
	t.Parallel()
	require.Equal(t, "041dbac2cc5cee17", fmt.Sprintf("%016x", uint64(dependency.NewKey('p', "chalk"))))
	require.NotEqual(t, dependency.NewKey('p', "chalk"), dependency.NewKey('n', "chalk"))
}

// A response holds in a state exactly if nothing that it was made from differs, or, when more
// was changed since, if nothing of it was changed in any turn in between.
func TestDependenciesHoldInModel(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		history, state := dependency.NewHistory()
		states := []dependency.State{state}
		turns := []map[string]bool{{}} // what each turn changed
		type response struct {
			made  *dependency.Dependencies
			reads []string
			all   bool
			at    int
		}
		var responses []response
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				changed := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "changed")
				c, turn := &dependency.Changes{}, map[string]bool{}
				for _, name := range changed {
					c.Add(key(name))
					turn[name] = true
				}
				if rapid.IntRange(0, 9).Draw(t, "everything") == 0 {
					c.AddEverything()
					turn["everything"] = true
				}
				states, turns = append(states, history.Advance(c)), append(turns, turn)
			case 1:
				at := rapid.IntRange(0, len(states)-1).Draw(t, "made in")
				r := response{at: at, reads: rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "reads"), all: rapid.IntRange(0, 9).Draw(t, "all") == 0}
				recorder := &dependency.Recorder{}
				recorder.AddNames('p', r.reads)
				if r.all {
					recorder.AddEverything()
				}
				r.made = recorder.Dependencies(states[at])
				responses = append(responses, r)
			case 2:
				if len(responses) == 0 {
					continue
				}
				r := responses[rapid.IntRange(0, len(responses)-1).Draw(t, "response")]
				at := rapid.IntRange(0, len(states)-1).Draw(t, "asked in")
				differs := false
				for _, turn := range turns[min(at, r.at)+1 : max(at, r.at)+1] {
					differs = differs || turn["everything"] || r.all || slices.ContainsFunc(r.reads, func(name string) bool { return turn[name] })
				}
				if holds := r.made.HoldIn(states[at]); holds && differs {
					t.Fatalf("a response of turn %d holds in turn %d, although %v changed", r.at, at, turns)
				} else if latest := at == len(states)-1; !holds && !differs && latest {
					t.Fatalf("a response of turn %d does not hold in turn %d, although nothing of %v changed: %v", r.at, at, r.reads, turns)
				}
			}
		}
	})
}

func TestStatesOfOtherHistories(t *testing.T) {
	t.Parallel()
	_, state := dependency.NewHistory()
	_, other := dependency.NewHistory()
	recorder := &dependency.Recorder{}
	made := recorder.Dependencies(state)
	require.True(t, made.HoldIn(state))
	require.False(t, made.HoldIn(other), "of another database")
	require.False(t, made.HoldIn(dependency.State{}))
	require.Nil(t, recorder.Dependencies(dependency.State{}), "of data that never changes")
	require.True(t, (*dependency.Dependencies)(nil).HoldIn(other))
}

func TestPackedChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOf(rapid.String()).Draw(t, "names")
		c := &dependency.Changes{}
		for _, name := range names {
			c.Add(key(name))
		}
		again, err := dependency.UnpackChanges(c.Pack())
		require.NoError(t, err)
		require.Equal(t, len(names) == 0, again.Empty())
		for _, name := range names {
			require.True(t, again.Has(key(name)))
		}
		require.False(t, again.Has(dependency.NewKey('n', "another kind")))
		require.Equal(t, c.Pack(), again.Pack())
	})
	all := &dependency.Changes{}
	all.AddEverything()
	for name, packed := range map[string][]byte{"everything": all.Pack(), "nothing stored": nil, "a later version": {9, 1, 2}} {
		read, err := dependency.UnpackChanges(packed)
		require.NoError(t, err, name)
		require.True(t, read.Everything(), name)
	}
	_, err := dependency.UnpackChanges(changes(key("a")).Pack()[:5])
	require.Error(t, err)
}

// Memory is bounded: too many keys count as everything.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := &dependency.Changes{}
	for i := range dependency.MaxChanges {
		c.Add(key(fmt.Sprint(i)))
	}
	require.False(t, c.Everything())
	c.Add(key("one more"))
	require.True(t, c.Everything())

	history, state := dependency.NewHistory()
	few, many := &dependency.Recorder{}, &dependency.Recorder{}
	few.Add(key("steady"))
	for i := range 20_000 {
		few.Add(key(fmt.Sprint(i % 10)))
		many.Add(key(fmt.Sprint(i)))
	}
	made, large := few.Dependencies(state), many.Dependencies(state)
	require.Less(t, large.Size(), 1000)
	next := history.Advance(changes(key("another")))
	require.True(t, made.HoldIn(next), "repeated keys count once")
	require.False(t, large.HoldIn(next), "made from too much to remember")
	for turn := range 6 {
		c := &dependency.Changes{}
		for i := range dependency.MaxChanges {
			c.Add(key(fmt.Sprint(turn, i)))
		}
		next = history.Advance(c)
	}
	require.False(t, made.HoldIn(next), "forgotten, so it may have changed")
	require.True(t, few.Dependencies(next).HoldIn(next))
}

// The keys of a nil recorder are dropped.
func TestNilRecorder(t *testing.T) {
	t.Parallel()
	var none *dependency.Recorder
	none.Add(key("a"))
	none.AddNames('p', []string{"a"})
	none.AddEverything()
	_, state := dependency.NewHistory()
	require.Nil(t, none.Dependencies(state))
}
