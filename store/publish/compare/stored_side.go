package compare

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release"
	"portico/store/release/segment"
)

// StoredSide is a stored release.
type StoredSide struct {
	db   *db.DB
	View *release.View
}

// NewStoredSide returns the side of the release that v shows.
func NewStoredSide(d *db.DB, v *release.View) *StoredSide { return &StoredSide{d, v} }

func (s *StoredSide) Release() *segment.Release { return s.View.Release }

func (s *StoredSide) Versions(ctx context.Context, ids []string) (map[string]ProductVersion, error) {
	return VersionsIn(ctx, s.View, ids)
}

func (s *StoredSide) FoundBy(ctx context.Context, ids []string) (map[string]FoundBy, error) {
	products, err := s.View.ProductsByID(ctx, ids)
	found := make(map[string]FoundBy, len(products))
	for id, product := range products {
		found[id] = FoundBy{product.SKU(), product.Slug(), product.NodeIDs()}
	}
	return found, err
}

func (s *StoredSide) Tree(ctx context.Context) (*segment.Tree, error) { return s.View.Tree(ctx) }

func (s *StoredSide) Attributes(ctx context.Context) (segment.Attributes, error) {
	return s.View.Attributes(ctx)
}

func (s *StoredSide) SynonymSources(ctx context.Context) ([]*catalog.SynonymSource, error) {
	return s.View.SynonymSources(ctx)
}

func (s *StoredSide) RedirectSources(ctx context.Context) ([]*catalog.RedirectSource, error) {
	return s.View.RedirectSources(ctx)
}

func (s *StoredSide) Curated(ctx context.Context, nodes []*segment.CatalogNode) (map[string][]string, error) {
	found := map[string][]string{}
	return found, store.Chunked(nodes, AtOnce, func(nodes []*segment.CatalogNode) error {
		names := make([]string, len(nodes))
		for i, node := range nodes {
			names[i] = segment.ListOfNode(node.ID)
		}
		heads, err := s.View.ListHeads(ctx, names)
		if err != nil {
			return err
		}
		var ordinals []uint32
		for _, name := range names {
			if head := heads[name]; head != nil {
				ordinals = append(ordinals, head.Curated...)
			}
		}
		ordinals = store.Unique(ordinals)
		ids := make(map[uint32]string, len(ordinals))
		if err := store.Chunked(ordinals, 512, func(ordinals []uint32) error {
			some, err := s.View.ProductIDs(ctx, ordinals)
			for i, id := range some {
				ids[ordinals[i]] = id
			}
			return err
		}); err != nil {
			return err
		}
		for i, node := range nodes {
			if head := heads[names[i]]; head != nil {
				for _, ordinal := range head.Curated {
					found[node.ID] = append(found[node.ID], ids[ordinal])
				}
			}
		}
		return nil
	})
}

func (s *StoredSide) Shown(ctx context.Context, ids []string) (map[string]*ShownProduct, error) {
	found, err := s.View.OrdinalsByID(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	ordinals := segment.Ordered(found)
	texts := make([]ProductTexts, len(ordinals))
	for _, language := range slices.Concat([]string{""}, s.View.Release.Locales) {
		reader := s.View.Reader
		if language != "" {
			reader = segment.NewReader(s.db, s.View.Release, []string{language})
			reader.Primary = true
		}
		if err := readTexts(ctx, &reader, language, ordinals, texts); err != nil {
			return nil, err
		}
	}
	products := make(map[string]*ShownProduct, len(found))
	for id, ordinal := range found {
		at, _ := slices.BinarySearch(ordinals, uint32(ordinal))
		if products[id], err = texts[at].Show(id); err != nil {
			return nil, err
		}
	}
	return products, nil
}

// readTexts adds to texts, in the order of ordinals, what a release stores of the products at some ordinals in one language.
// "" is the base language, which comes first.
func readTexts(ctx context.Context, r *segment.Reader, language string, ordinals []uint32, texts []ProductTexts) error {
	stored, err := r.ReadProducts(ctx, ordinals)
	if err != nil {
		return err
	}
	defer stored.Release()
	for i, p := range stored.Products {
		t := &texts[i]
		switch {
		case language == "":
			*t = ProductTexts{Custom: strings.Clone(p.Attributes), Offers: strings.Clone(p.Offers), Crumbs: strings.Clone(p.Crumbs),
				Documents: map[string]string{}, Extras: map[string]string{}}
		case p.Language != language: // it is not translated
			continue
		}
		t.Documents[language], t.Extras[language] = strings.Clone(p.Document), strings.Clone(p.Extras)
	}
	return nil
}

func (s *StoredSide) Files(ctx context.Context, ids []string) (map[string]string, error) {
	return filesIn(ctx, s.db.Reader, &s.View.Reader, ids)
}

// VersionsIn returns the versions of several products of a release. It leaves out unknown ids.
func VersionsIn(ctx context.Context, v *release.View, ids []string) (map[string]ProductVersion, error) {
	found, err := v.OrdinalsByID(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	ordinals := segment.Ordered(found)
	hashes, err := v.KeysAt(ctx, segment.SortVersion, ordinals)
	if err != nil {
		return nil, err
	}
	published, err := v.KeysAt(ctx, segment.SortPublished, ordinals)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]ProductVersion, len(found))
	for id, ordinal := range found {
		at, _ := slices.BinarySearch(ordinals, uint32(ordinal))
		byID[id] = ProductVersion{hashes[at], cmp.Or(published[at], v.Release.HolderIdentity(int(ordinal)).Published), uint32(ordinal)}
	}
	return byID, nil
}

// IdsIn adds the ids of the products of some layers of a release, and of those of the layers below that they replace or
// do not have.
func IdsIn(ctx context.Context, v *release.View, layers []segment.Layer, ids map[string]bool) error {
	if len(layers) == 0 {
		return nil
	}
	all, err := v.AllIDs(ctx)
	if err != nil {
		return err
	}
	for _, layer := range layers {
		for ordinal := layer.First; ordinal < layer.End; ordinal++ {
			ids[all.At(uint32(ordinal))] = true
		}
	}
	dead, err := v.DeadIn(ctx, layers)
	for _, ordinal := range dead {
		ids[all.At(ordinal)] = true
	}
	return err
}

// FileIDsIn returns the ids of the files of some layers.
func FileIDsIn(ctx context.Context, in db.Session, layers []segment.Layer) ([]string, error) {
	ids := make([]int64, len(layers))
	for i, layer := range layers {
		ids[i] = layer.ID
	}
	return db.CollectIn(ctx, in, db.Scalar[string], ids, `SELECT file_id FROM release_file WHERE release_id IN ($in)`)
}

// filesIn returns the texts of files of a release, from the highest layer that has them.
func filesIn(ctx context.Context, in db.Session, r *segment.Reader, ids []string) (map[string]string, error) {
	of, args := r.InLayers()
	list, args := db.InList(args, ids)
	files, err := db.Collect(ctx, in, db.ScanPair[string, string], `
		SELECT file_id, body FROM release_file WHERE release_id IN (`+of+`) AND file_id IN (`+list+`) ORDER BY release_id`, args...)
	texts := make(map[string]string, len(files))
	for _, f := range files { // the base first, whose number is the lowest
		texts[f.Key] = f.Value
	}
	return texts, err
}
