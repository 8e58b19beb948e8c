package httpcache

import (
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"portico/internal/dependency"
)

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
	BroadTag   = "broad-"   // responses of a catalog that are made from more than MaxParts
)

const (
	MaxParts  = 200 // tags of parts on a response: 14 bytes each, with the separator
	MaxPurged = 100 // tags of a purge, as many as Cloudflare takes at once
)

// Tags returns the tags of a response of a catalog and a release, and of the parts that it was made from: BroadTag stands for
// more than MaxParts.
func Tags(catalogID, releaseID string, madeFrom *dependency.Recorder) []string {
	tags := []string{AllTag, CatalogTag + catalogID, ReleaseTag + releaseID}
	if parts, few := madeFrom.Keys(MaxParts); few {
		return appendParts(tags, catalogID, parts)
	}
	return append(tags, BroadTag+catalogID)
}

// PurgedTags returns the tags of all responses of a catalog that a change may make old: BroadTag and the parts, or CatalogTag if
// they are more than MaxPurged.
func PurgedTags(catalogID string, changed *dependency.Changes) []string {
	if parts, few := changed.Keys(MaxPurged - 1); few { // 1: BroadTag
		return appendParts([]string{BroadTag + catalogID}, catalogID, parts)
	}
	return []string{CatalogTag + catalogID}
}

// partEncoding encodes the 8 bytes of a part as 13 letters and digits.
var partEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// appendParts appends a tag for each part. A part has another tag in each catalog, whose hash is mixed in.
func appendParts(tags []string, catalogID string, parts []dependency.Key) []string {
	tags = slices.Grow(tags, len(parts))
	catalog := xxhash.Sum64String(catalogID)
	for _, part := range parts {
		tags = append(tags, partEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(part)^catalog)))
	}
	return tags
}

// JoinTags returns tags as the value of a header, which is SurrogateKey or CacheTag.
func JoinTags(header string, tags []string) string {
	if header == CacheTag {
		return strings.Join(tags, ",")
	}
	return strings.Join(tags, " ")
}
