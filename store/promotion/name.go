package promotion

import (
	"encoding/hex"
	"sync"

	"portico/store/index"
)

// names collates promotions' names without a language of their own.
var names = sync.OnceValue(func() *index.Collation { return index.NewCollation("und") })

// maxNameKey keeps a key well under what an index page of either engine
// holds; names that are alike so far are sorted by id.
const maxNameKey = 256

// nameKey is what a name is sorted by: a collation key, in hexadecimal.
func nameKey(name string) string {
	key := names().Key(name)
	return hex.EncodeToString(key[:min(len(key), maxNameKey)])
}
