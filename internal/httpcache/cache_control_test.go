package httpcache_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/dependency"
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

// keys returns the keys of numbered products.
func keys(n int) []dependency.Key {
	list := make([]dependency.Key, n)
	for i := range list {
		list[i] = dependency.NewKey('p', strconv.Itoa(i))
	}
	return list
}

func TestTags(t *testing.T) {
	t.Parallel()
	made := &dependency.Recorder{}
	made.Add(keys(1)[0])
	tags := httpcache.Tags("main", "7", made)
	require.Equal(t, "portico catalog-main release-7 2v6h2gdnabimu", httpcache.JoinTags(httpcache.SurrogateKey, tags))
	require.Equal(t, "portico,catalog-main,release-7,2v6h2gdnabimu", httpcache.JoinTags(httpcache.CacheTag, tags))
	require.NotEqual(t, tags[3], httpcache.Tags("outlet", "7", made)[3], "catalogs have parts of their own")
}

// TestPurgedTags: whatever a response was made from, the tags of a change of it are among those of the response.
func TestPurgedTags(t *testing.T) {
	t.Parallel()
	few, many := keys(httpcache.MaxPurged-1), keys(httpcache.MaxParts+1)
	for read, n := range map[string]int{"nothing": 0, "one": 1, "few": len(few), "as many as there are tags": httpcache.MaxParts, "one more": httpcache.MaxParts + 1, "everything": -1} {
		made := &dependency.Recorder{}
		if n < 0 {
			made.AddEverything()
		}
		for _, key := range many[:max(n, 0)] {
			made.Add(key)
		}
		tags := httpcache.Tags("main", "7", made)
		require.LessOrEqual(t, len(strings.Join(tags, " ")), 3000, read)
		for changed, keys := range map[string][]dependency.Key{"nothing": nil, "the first": many[:1], "few": few, "many": many, "everything": nil} {
			c := &dependency.Changes{}
			if c.Add(keys...); changed == "everything" {
				c.AddEverything()
			}
			purged := httpcache.PurgedTags("main", c)
			require.LessOrEqual(t, len(purged), httpcache.MaxPurged)
			gone := slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(purged, tag) })
			needed := n > httpcache.MaxParts || n < 0 || c.Everything() || len(keys) > 0 && n > 0 || changed == "many"
			require.Equal(t, needed, gone, "made from %s, changed %s: %q", read, changed, purged)
		}
	}
	unknown := httpcache.Tags("main", "7", nil)
	require.Equal(t, "broad-main", unknown[3])
}
