package httpcache

import "strings"

// The headers that name the tags of a response, by which a CDN purges it.
const (
	SurrogateKey = "Surrogate-Key" // tags separated by spaces: Fastly, Varnish
	CacheTag     = "Cache-Tag"     // tags separated by commas: Cloudflare, Bunny, Google
)

// AllTag is on every response that has tags.
const AllTag = "portico"

// The tags of one thing are a prefix and its id.
const (
	CatalogTag = "catalog-" // what a catalog shows
	ReleaseTag = "release-" // the release that the response was made for; unchanged responses keep it in later releases
)

// Tags returns the tags of a response of a catalog and a release.
func Tags(catalogID, releaseID string) []string {
	return []string{AllTag, CatalogTag + catalogID, ReleaseTag + releaseID}
}

// JoinTags returns tags as the value of a header, which is SurrogateKey or CacheTag.
func JoinTags(header string, tags []string) string {
	if header == CacheTag {
		return strings.Join(tags, ",")
	}
	return strings.Join(tags, " ")
}
