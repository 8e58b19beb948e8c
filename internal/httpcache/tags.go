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
	ProductTag = "product-"
	NodeTag    = "node-"
	ManyTag    = "many-" // of a catalog, in place of products and nodes that are too many
)

// The limits of the tags of a response. Proxies accept headers of 4 kB in all.
const (
	MaxTags     = 50
	MaxTagBytes = 2 << 10
)

// Tags builds the tags of a response.
type Tags struct {
	catalog string
	list    []string
	seen    map[string]bool
	bytes   int
	many    bool // too many things
}

// NewTags returns the tags of a response of a catalog and a release.
func NewTags(catalogID, releaseID string) *Tags {
	return &Tags{catalog: catalogID, list: []string{AllTag, CatalogTag + catalogID, ReleaseTag + releaseID}}
}

// Add adds a product or node, by the prefix of its tag.
func (t *Tags) Add(prefix, id string) {
	tag := prefix + id
	if t.many || t.seen[tag] {
		return
	}
	t.bytes += len(tag) + 1
	if len(t.seen) == MaxTags || t.bytes > MaxTagBytes {
		t.many = true
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[tag] = true
	t.list = append(t.list, tag)
}

// List returns the tags. If there were too many things, a broader tag stands for all of them.
func (t *Tags) List() []string {
	if !t.many {
		return t.list
	}
	return append(t.list[:3:3], ManyTag+t.catalog)
}

// JoinTags returns tags as the value of a header, which is SurrogateKey or CacheTag.
func JoinTags(header string, tags []string) string {
	if header == CacheTag {
		return strings.Join(tags, ",")
	}
	return strings.Join(tags, " ")
}
