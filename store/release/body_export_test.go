package release

import (
	"encoding/json"

	"portico/internal/cachekey"
)

// FilterKey names a filter, as caches and cursors do.
func FilterKey(f ProductFilter) cachekey.Key { return f.key() }

// ReadBody reads a product's body by the way it was written, and by
// encoding/json; ok tells whether the first could.
func ReadBody(p *Product) (fast, slow any, ok bool) {
	scanned, decoded := &productDocument{}, &productDocument{}
	ok = scanned.scan(p.body, p.relations)
	if err := json.Unmarshal([]byte(p.body), decoded); err != nil {
		panic(err)
	}
	return scanned, decoded, ok
}
