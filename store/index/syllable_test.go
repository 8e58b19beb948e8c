package index

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSyllables(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]string{
		"เก้าอี้ไม้สัก": "เก้า อี้ ไม้ สั ก",
		"โต๊ะกาแฟ":      "โต๊ะ กา แฟ",
		"ຕັ່ງໄມ້":       "ຕັ່ ງ ໄມ້",
		"ខ្មែរ":         "ខ្មែ រ",
		"ကုလားထိုင်":    "ကု လား ထို င်",
		"木製椅子":          "木 製 椅 子",
		"コーヒー":          "コ ー ヒ ー",
		"ก":             "ก",
		"เ":             "เ",
		"ะ":             "ะ",
	} {
		require.Equal(t, strings.Fields(want), syllables(run), run)
	}
}

// TestPrefixOfRunIsSplitLikeRun: a prefix of a text is split like the text, except for its
// last syllable.
func TestPrefixOfRunIsSplitLikeRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := []rune(rapid.StringMatching(`[ก-ฮะ-ูเ-ๆ็-๎ກ-ຮະ-ຽເ-ໆ່-ໍក-្က-်木製椅子ア-ン]{1,16}`).Draw(t, "run"))
		typed := run[:rapid.IntRange(1, len(run)).Draw(t, "typed")]
		whole, part := syllables(string(run)), syllables(string(typed))
		last := len(part) - 1
		require.Equal(t, whole[:last], part[:last])
		require.True(t, strings.HasPrefix(whole[last], part[last]), "%q of %q", part, whole)
		require.Equal(t, string(run), strings.Join(whole, ""))
	})
}
