package promotion

import (
	"encoding/hex"
	"sync"

	"portico/store/index"
)

// names collates the names of promotions, which have no language, by the root collation.
var names = sync.OnceValue(func() *index.Collation { return index.NewCollation("und") })

// maxNameKey keeps a key well below what an index page of either database holds. Names with the
// same beginning are sorted by id.
const maxNameKey = 256

// nameKey returns the sort key of a name, in hexadecimal.
func nameKey(name string) string {
	key := names().Key(name)
	return hex.EncodeToString(key[:min(len(key), maxNameKey)])
}
