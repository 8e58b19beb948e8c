package segment

import (
	"context"
	"encoding/json"

	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
)

// ListSynonyms is the name of the list whose only chunk holds the synonyms, as JSON. A delta has one only if one
// was written since its parent, and a whole release if it has any.
const ListSynonyms = "synonyms"

// SynonymSources reads the synonyms as they were published. Searches depend on them, so they count as AnyProduct.
func (r *Reader) SynonymSources(ctx context.Context) (sources []*catalog.SynonymSource, err error) {
	r.Reads.Add(AnyProduct)
	body, found, err := r.shopChunk(ctx, ListSynonyms)
	if err != nil || !found {
		return nil, err
	}
	return sources, json.Unmarshal(body, &sources)
}

// synonyms reads the synonyms to search with.
func (r *Reader) synonyms(ctx context.Context) (*index.Synonyms, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedSynonyms}
	if kept, ok := db.Cached[*index.Synonyms](r.Cache, key); ok {
		return kept, nil
	}
	sources, err := r.SynonymSources(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]index.Synonym, len(sources))
	for i, source := range sources {
		list[i] = source.Synonym()
	}
	synonyms := index.NewSynonyms(list, append([]string{r.Release.Locale}, r.Release.Locales...))
	r.Cache.Set(key, synonyms)
	return synonyms, nil
}
