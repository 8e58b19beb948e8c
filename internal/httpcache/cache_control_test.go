package httpcache_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/httpcache"
)

func TestParseCacheControl(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"public, s-maxage=60":                            "public, s-maxage=60",
		" Public,S-MaxAge=60 ,stale-while-revalidate=30": "public, s-maxage=60, stale-while-revalidate=30",
		"public, max-age=0, s-maxage=31536000":           "public, max-age=0, s-maxage=31536000",
		"public, no-cache":                               "public, no-cache",
	} {
		c, err := httpcache.ParseCacheControl(text)
		require.NoError(t, err, text)
		require.True(t, c.Enabled())
		require.Equal(t, []string{want}, c.Value(0, true))
	}
	none, err := httpcache.ParseCacheControl("")
	require.NoError(t, err)
	require.False(t, none.Enabled())
	for text, says := range map[string]string{
		"s-maxage=60":                      `public is missing in "s-maxage=60": add it`,
		"private, max-age=60":              `"private" is not allowed: use public,`,
		"public, no-store":                 `"no-store" is not allowed`,
		"public, immutable":                `"immutable" is not allowed`,
		"public, s-maxage":                 `s-maxage must have a number of seconds between 0 and 31536000, such as s-maxage=60, got ""`,
		"public, s-maxage=-1":              `got "-1"`,
		"public, s-maxage=31536001":        `got "31536001"`,
		"public, s-maxage=1h":              `got "1h"`,
		"public=1":                         `"public=1" is not allowed`,
		"public, s-maxage=1, s-maxage=2":   "s-maxage appears twice: keep one",
		"public, s-maxage=1\r\nSet-Cookie": "got \"1\\r\\nset-cookie\"",
		"public,":                          `"" is not allowed`,
	} {
		_, err := httpcache.ParseCacheControl(text)
		require.ErrorContains(t, err, says, text)
	}
}

// TestValueIsLimited: caches must not send a response for longer than it holds.
func TestValueIsLimited(t *testing.T) {
	c, err := httpcache.ParseCacheControl("public, max-age=10, s-maxage=60, stale-while-revalidate=30, stale-if-error=300")
	require.NoError(t, err)
	for holds, want := range map[time.Duration]string{
		360 * time.Second:       "public, max-age=10, s-maxage=60, stale-while-revalidate=30, stale-if-error=300",
		100 * time.Second:       "public, max-age=10, s-maxage=60, stale-while-revalidate=30, stale-if-error=40",
		60 * time.Second:        "public, max-age=10, s-maxage=60, stale-while-revalidate=0, stale-if-error=0",
		5900 * time.Millisecond: "public, max-age=5, s-maxage=5, stale-while-revalidate=0, stale-if-error=0",
		time.Second - 1:         "public, no-cache",
		-time.Hour:              "public, no-cache",
	} {
		require.Equal(t, []string{want}, c.Value(holds, false), "%s", holds)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Value(0, true); c.Value(time.Hour, false) }))
}

func TestTags(t *testing.T) {
	t.Parallel()
	tags := httpcache.NewTags("main", "7")
	tags.Add(httpcache.ProductTag, "anvil")
	tags.Add(httpcache.ProductTag, "anvil")
	tags.Add(httpcache.NodeTag, "anvil")
	require.Equal(t, "portico catalog-main release-7 product-anvil node-anvil", httpcache.JoinTags(httpcache.SurrogateKey, tags.List()))
	require.Equal(t, "portico,catalog-main,release-7,product-anvil,node-anvil", httpcache.JoinTags(httpcache.CacheTag, tags.List()))
}

// TestTagsAreBounded: the tags of a response are bounded in number and bytes, and either name all that was
// added, or a broader tag stands for them.
func TestTagsAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`), 0, 2*httpcache.MaxTags).Draw(t, "ids")
		tags := httpcache.NewTags("main", "7")
		for _, id := range ids {
			tags.Add(httpcache.ProductTag, id)
		}
		list := tags.List()
		require.Equal(t, []string{"portico", "catalog-main", "release-7"}, list[:3])
		things := list[3:]
		require.LessOrEqual(t, len(things), httpcache.MaxTags)
		require.LessOrEqual(t, len(strings.Join(things, " ")), httpcache.MaxTagBytes)
		if len(things) == 1 && things[0] == "many-main" {
			return
		}
		for _, id := range ids {
			require.Contains(t, things, "product-"+id)
		}
	})
	tags := httpcache.NewTags("main", "7")
	for i := range httpcache.MaxTags + 1 {
		require.NotContains(t, tags.List(), "many-main", "%d are not too many", i)
		tags.Add(httpcache.NodeTag, strings.Repeat("n", i%40)+string(rune('a'+i%26)))
	}
	require.Contains(t, tags.List(), "many-main")
}
