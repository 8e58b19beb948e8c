package cachekey

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawnPart draws texts that contain what keys might be joined with.
func drawnPart() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("a \x00\x01\x02:,=()[]\"/~")), 0, 4, -1)
}

// drawn is a key with the tree of parts that it was made of.
type drawn struct {
	key  Key
	tree any // a string, or a []any
}

func drawKey(t *rapid.T, depth int) drawn {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		part := drawnPart().Draw(t, "part")
		return drawn{New(part), part}
	}
	tree, parts, texts := []any{}, []Key{}, []string{}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		d := drawKey(t, depth-1)
		tree, parts = append(tree, d.tree), append(parts, d.key)
		if text, ok := d.tree.(string); ok {
			texts = append(texts, text)
		}
	}
	key := Join(parts...)
	if len(texts) == len(parts) && len(texts) != 1 {
		require.Equal(t, key, New(texts...), "New and Join agree")
	}
	return drawn{key, tree}
}

func TestKeysAreTheSameOnlyIfAllTheirPartsAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey(t, 2), drawKey(t, 2)
		same := assert.ObjectsAreEqual(a.tree, b.tree)
		require.Equal(t, same, a.key == b.key, "%q and %q", a.tree, b.tree)
		require.Equal(t, same, a.key.Digest() == b.key.Digest(), "%q and %q", a.tree, b.tree)
	})
	for _, pair := range [][2][]string{
		{{"a b"}, {"a", "b"}}, {{"a", "b"}, {"ab"}}, {{"a", ""}, {"a"}}, {{"", "a"}, {"a", ""}}, {{}, {""}}, {{"\x02a"}, {"a", ""}},
	} {
		require.NotEqual(t, New(pair[0]...), New(pair[1]...), "%q", pair)
		require.NotEqual(t, New(pair[0]...).Digest(), New(pair[1]...).Digest(), "%q", pair)
	}
}

func TestPartsInABufferAreThoseOfTheKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(drawnPart(), 2, 4).Draw(t, "parts")
		var buf []byte
		for _, part := range parts {
			buf = AppendPart(buf, part)
		}
		require.Equal(t, New(parts...), Of(buf))
	})
}

func TestTheKeyOfOnePartDoesNotAllocate(t *testing.T) {
	part, kept := string(slices.Repeat([]byte{'x'}, 40)), Key{}
	require.Zero(t, testing.AllocsPerRun(100, func() { kept = New(part) }))
	require.Equal(t, part, kept.Text())
}
