package release

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync/atomic"
	"time"

	"portico/store/catalog"
)

// Identity names all that the product shows of itself, whatever release shows
// it: the document in its language, the prices of the moment, how amounts are
// written, the catalog, and the nodes it is attached to by their ids. Products
// with one identity are the same in all members, but for when they were
// published. ok is false for one that is no product of a release.
func (r *released) Identity() (identity [16]byte, ok bool) {
	if r.shownAs == "" {
		return identity, false
	}
	r.named.Do(func() {
		h := sha256.New()
		for _, part := range [...]string{r.shownAs, r.language} {
			h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
			h.Write([]byte(part))
		}
		h.Write(r.body[:r.published])
		h.Write(r.body[r.insert:])
		r.identity = [16]byte(h.Sum(nil))
	})
	return r.identity, true
}

// EdgeDigest is what is found at an edge of a product in its release: its
// identity, as that of the product, and how many rows.
type EdgeDigest struct {
	Identity [16]byte
	Rows     int
}

// NewEdgeDigest is that of some rows, of which content tells all that they show.
func NewEdgeDigest(content []byte, rows int) *EdgeDigest {
	sum := sha256.Sum256(content)
	return &EdgeDigest{[16]byte(sum[:16]), rows}
}

// EdgeDigests are what is known of the edges of a product of a release, which
// never change.
type EdgeDigests struct{ Files, Breadcrumbs atomic.Pointer[EdgeDigest] }

// EdgeDigests are the product's.
func (r *released) EdgeDigests() *EdgeDigests { return &r.edgeDigests }

// AppendContent appends all that the node shows of itself, whatever release
// shows it: all but when it was published.
func (n *CatalogNode) AppendContent(dst []byte) []byte {
	shown := *n
	shown.PublishedAt = time.Time{}
	dst = append(dst, catalog.FormatBool(n.HasChildren())...)
	text, err := json.Marshal(&shown)
	if err != nil {
		panic(err) // texts and times can be written
	}
	return append(dst, text...)
}
