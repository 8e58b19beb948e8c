package check

import (
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// keyChecker finds likely mistakes between lines: a key that a line uses but that neither the files
// nor the store define, and a key that two resources define. It keeps a hash of eight bytes for each
// key, about 60 bytes a product. The texts of warnings are made by a further pass over the files, if
// there is anything to warn of.
type keyChecker struct {
	lines     string // what holds the lines: files or items
	seed      maphash.Seed
	store     *storedKeys
	defined   map[uint64]struct{} // in the files
	repeated  map[uint64]struct{} // defined by several lines
	missing   map[uint64]struct{} // used, not in the store, and not in the files so far
	owners    map[uint64]keyOwner // resources of the store that have SKUs and slugs of the files, until Finish also those in the files
	options   map[uint64]uint64   // options of parents: their variation, as a hash
	variants  map[uint64][]uint64 // KeyVariant of children with several options that are not all known so far
	clashing  map[uint64]struct{} // KeyVariant of children with two options of one variation
	redirects map[string]int      // the lines of redirects by path
	inLines   int                 // number of warnings that lines have by themselves
}

// NewKeyChecker returns a checker without lines.
func NewKeyChecker(s *storedKeys, lines string) *keyChecker {
	return &keyChecker{lines: lines, seed: maphash.MakeSeed(), store: s, defined: map[uint64]struct{}{}, repeated: map[uint64]struct{}{},
		missing: map[uint64]struct{}{}, owners: map[uint64]keyOwner{}, options: map[uint64]uint64{}, variants: map[uint64][]uint64{}, clashing: map[uint64]struct{}{}, redirects: map[string]int{}}
}

func (c *keyChecker) hash(kind authoring.KeyKind, value string) uint64 {
	return maphash.Comparable(c.seed, RecordedKey{kind, value})
}

// foldedSKU is the kind of SKUs without their case.
const foldedSKU authoring.KeyKind = "folded sku"

// RecordedKey is a key of a line.
type RecordedKey struct {
	Kind  authoring.KeyKind
	Value string
}

// LineKeys records the keys of a line.
type LineKeys struct {
	Defined, Used []recordedMember
}

// recordedMember is a key, and the member of the line that has it.
type recordedMember struct {
	RecordedKey
	member string // with dots, and * for index
	index  int
}

// Define implements authoring.KeyRecorder.
func (k *LineKeys) Define(kind authoring.KeyKind, value, member string) {
	k.Defined = append(k.Defined, recordedMember{RecordedKey{kind, value}, member, 0})
}

// Use implements authoring.KeyRecorder.
func (k *LineKeys) Use(kind authoring.KeyKind, value, member string, index int) {
	if value != "" { // else the id was an error
		k.Used = append(k.Used, recordedMember{RecordedKey{kind, value}, member, index})
	}
}

// path returns the member with its index.
func (m recordedMember) path() []string {
	return strings.Split(strings.Replace(m.member, "*", strconv.Itoa(m.index), 1), ".")
}

// Record replaces the keys by those of a line, whose source must not be nil. It reuses their memory.
func (k *LineKeys) Record(d Line) {
	k.Defined, k.Used = k.Defined[:0], k.Used[:0]
	k.Define(authoring.KeyKind(d.Kind), d.Source.Key(), "id")
	if source, keyed := d.Source.(authoring.KeyedSource); keyed {
		source.Keys(k)
	}
}

// Add records the keys of a batch, and looks in the store for those that it uses and that the files
// do not define so far. Of lines that are not unchanged it also looks for resources of the store that have their SKUs and slugs.
func (c *keyChecker) Add(ctx context.Context, in db.Session, batch []Line, unchanged func(line int) bool) error {
	var line LineKeys
	owners, used := map[authoring.KeyKind][]string{}, map[uint64]RecordedKey{}
	for _, d := range batch {
		c.inLines += len(d.Warnings)
		if d.Source == nil {
			continue
		}
		line.Record(d)
		if !unchanged(d.Number) {
			c.addRedirect(d)
		}
		for _, key := range line.Defined {
			c.define(key, d.Row.Continued)
			if owned(key.Kind) && !unchanged(d.Number) {
				owners[key.Kind] = append(owners[key.Kind], key.Value)
			}
		}
		var options []uint64
		for _, key := range line.Used {
			hash := c.hash(key.Kind, key.Value)
			used[hash] = key.RecordedKey
			if key.Kind == authoring.KeyOption {
				options = append(options, hash)
			}
		}
		for _, key := range line.Defined {
			if key.Kind == authoring.KeyVariant && len(options) > 1 {
				c.variants[c.hash(key.Kind, key.Value)] = options
			}
		}
	}
	if err := c.addOwners(ctx, in, owners); err != nil {
		return err
	}
	if err := c.addMissing(ctx, in, used); err != nil {
		return err
	}
	c.addClashing()
	return nil
}

// addClashing finds children with two options of one variation, and forgets those all of whose options are known.
func (c *keyChecker) addClashing() {
	for variant, options := range c.variants {
		var variations []uint64
		for _, option := range options {
			if variation, known := c.options[option]; known {
				variations = append(variations, variation)
			}
		}
		if len(store.Unique(variations)) < len(variations) {
			c.clashing[variant] = struct{}{}
		}
		if len(variations) == len(options) {
			delete(c.variants, variant)
		}
	}
}

// define records a key that a line defines, and whether it is repeated, for a SKU in any case. continued is true for a further
// line of the same resource.
func (c *keyChecker) define(key recordedMember, continued bool) {
	hash := c.hash(key.Kind, key.Value)
	c.recordOption(key)
	_, before := c.defined[hash]
	c.defined[hash] = struct{}{}
	if before && unique(key.Kind) && !continued {
		c.repeated[hash] = struct{}{}
	}
	if key.Kind == authoring.KeyNodeSlug {
		_, slug, _ := strings.Cut(key.Value, " ")
		c.defined[c.hash(authoring.KeyPath, slug)] = struct{}{}
	}
	if key.Kind == authoring.KeySKU {
		folded := c.hash(foldedSKU, strings.ToLower(key.Value))
		if _, twice := c.defined[folded]; twice && !before {
			c.repeated[folded] = struct{}{} // in another case
		}
		c.defined[folded] = struct{}{}
	}
}

// recordOption records the variation of an option; other keys it ignores.
func (c *keyChecker) recordOption(key recordedMember) {
	if key.Kind == authoring.KeyOption {
		c.options[c.hash(key.Kind, key.Value)] = c.hash(key.Kind, key.member)
	}
}

// unique reports whether two lines must not define the same key.
func unique(kind authoring.KeyKind) bool {
	return kind != authoring.KeyChild && kind != authoring.KeyOption && kind != authoring.KeyParent && kind != authoring.KeyOptionCount && kind != authoring.KeyModifier && kind != authoring.KeyTarget && kind != authoring.KeyPath && kind != "stock_transaction"
}

// owned reports whether no other resource of the store should define the key.
func owned(kind authoring.KeyKind) bool {
	return kind == authoring.KeySKU || kind == authoring.KeySlug || kind == authoring.KeyNodeSlug || kind == authoring.KeyPath
}

// keyOwner is a resource of the store that has a key.
type keyOwner struct {
	kind authoring.KeyKind // product or node
	id   string
	key  string // as it is in the store
}

// addOwners looks in the store for resources that have keys of a batch. Of a SKU in another case it records the folded one.
func (c *keyChecker) addOwners(ctx context.Context, in db.Session, wanted map[authoring.KeyKind][]string) error {
	for kind, values := range wanted {
		owners, err := c.store.owners(ctx, in, kind, values)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			if kind == authoring.KeySKU && !slices.Contains(values, owner.key) {
				c.owners[c.hash(foldedSKU, strings.ToLower(owner.key))] = owner
			} else {
				c.owners[c.hash(kind, owner.key)] = owner
			}
		}
	}
	return nil
}

// addMissing looks in the store for keys that a batch uses, by hash, each once in an import.
func (c *keyChecker) addMissing(ctx context.Context, in db.Session, used map[uint64]RecordedKey) error {
	wanted := map[authoring.KeyKind][]string{}
	for hash, key := range used {
		_, known := c.defined[hash]
		if _, noted := c.missing[hash]; !known && !noted {
			c.missing[hash] = struct{}{}
			wanted[key.Kind] = append(wanted[key.Kind], key.Value)
		}
	}
	for kind, values := range wanted {
		found, err := c.store.find(ctx, in, kind, values, c.recordOption)
		if err != nil {
			return err
		}
		for _, value := range found {
			hash := c.hash(kind, value)
			delete(c.missing, hash)
			c.defined[hash] = struct{}{} // need not be looked up again
		}
	}
	return nil
}

// Finish drops what later lines define, and owners that the files replace or that deleted, which may be nil, reports as deleted.
// Call it after the last Add. It returns whether there is anything to warn of.
func (c *keyChecker) Finish(deleted func(kind authoring.KeyKind, id string) bool) bool {
	for hash := range c.missing {
		if _, known := c.defined[hash]; known {
			delete(c.missing, hash)
		}
	}
	for hash, owner := range c.owners {
		if _, inFiles := c.defined[c.hash(owner.kind, owner.id)]; inFiles || deleted != nil && deleted(owner.kind, owner.id) {
			delete(c.owners, hash)
		}
	}
	c.addClashing()
	return c.inLines+len(c.missing)+len(c.repeated)+len(c.owners)+len(c.clashing) > 0 || c.hidesPage()
}

// keyWarner makes the warnings of lines, in the order of the files.
type keyWarner struct {
	*keyChecker
	last    map[uint64]definedAt // where repeated keys were defined last
	hidden  []ImportError        // redirects for pages of the files
	keys    LineKeys
	session db.Session
}

// definedAt is where a repeated key was defined before.
type definedAt struct {
	line int
	id   string
}

// warnings returns the warnings of a line.
func (w *keyWarner) warnings(ctx context.Context, d Line) (list []ImportError, err error) {
	for _, warning := range d.Warnings {
		list = append(list, ImportError{Line: d.Number, Type: d.Kind, Err: warning})
	}
	if d.Source == nil {
		return list, nil
	}
	w.hide(d)
	w.keys.Record(d)
	for _, key := range w.keys.Defined {
		if warning := w.duplicate(d, key); warning != nil {
			list = append(list, *warning)
		} else if warning := w.otherCase(d, key); warning != nil {
			list = append(list, *warning)
		}
		if _, clashes := w.clashing[w.hash(key.Kind, key.Value)]; clashes {
			list = append(list, ImportError{Line: d.Number, Type: d.Kind, Err: store.Invalidf(key.path(), "has two options of one variation of the parent; choose one of each variation")})
		}
	}
	for _, key := range w.keys.Used {
		if _, missing := w.missing[w.hash(key.Kind, key.Value)]; !missing {
			continue
		}
		text, err := w.unknown(ctx, key)
		if err != nil {
			return nil, err
		}
		if text != "" {
			list = append(list, ImportError{Line: d.Number, Type: d.Kind, Err: store.Invalidf(key.path(), "%s", text), Missing: true})
		}
	}
	return list, nil
}

// duplicate warns of a key that an earlier line, or a product or node of the store, defines; nil for none. It remembers
// where a repeated key was defined.
func (w *keyWarner) duplicate(d Line, key recordedMember) *ImportError {
	hash := w.hash(key.Kind, key.Value)
	warn := func(other int, format string, args ...any) *ImportError {
		return &ImportError{Line: d.Number, Type: d.Kind, Err: store.Invalidf(key.path(), format, args...), Other: other}
	}
	owner := w.owners[hash]
	if owner.id != "" && key.Kind == authoring.KeyPath {
		return warn(0, pageDetail, owner.kind, owner.id, " in the store")
	}
	if owner.id != "" && owner.id != d.Source.Key() {
		if key.Kind == authoring.KeyNodeSlug {
			return warn(0, "is also the slug of the node %q in the store", owner.id)
		}
		return warn(0, "is also the %s of the product %q in the store", key.Kind, owner.id)
	}
	if _, repeated := w.repeated[hash]; !repeated {
		return nil
	}
	before, seen := w.last[hash]
	w.last[hash] = definedAt{d.Number, d.Source.Key()}
	switch {
	case !seen:
		return nil
	case key.member == "id":
		return warn(before.line, "is repeated: an earlier line has the %s %q too, and this one replaces it", d.Kind, store.Abbreviate(key.Value))
	case before.id == d.Source.Key():
		return nil
	}
	if key.Kind == authoring.KeyNodeSlug {
		return warn(before.line, "is also the slug of the node %q", before.id)
	}
	return warn(before.line, "is also the %s of the product %q", key.Kind, before.id)
}

// otherCase warns of a SKU that differs only in case from that of an earlier line, or of a product of the store.
func (w *keyWarner) otherCase(d Line, key recordedMember) *ImportError {
	if key.Kind != authoring.KeySKU {
		return nil
	}
	hash := w.hash(foldedSKU, strings.ToLower(key.Value))
	if owner := w.owners[hash]; owner.id != "" && owner.id != d.Source.Key() && owner.key != key.Value {
		return &ImportError{Line: d.Number, Type: d.Kind, Err: store.Invalidf(key.path(),
			"is the SKU %q of the product %q in the store in another case; two products must not differ in that alone", store.Abbreviate(owner.key), owner.id)}
	}
	if _, repeated := w.repeated[hash]; !repeated {
		return nil
	}
	before, seen := w.last[hash]
	w.last[hash] = definedAt{d.Number, d.Source.Key()}
	if !seen || before.id == d.Source.Key() {
		return nil
	}
	return &ImportError{Line: d.Number, Type: d.Kind, Other: before.line, Err: store.Invalidf(key.path(),
		"is the SKU of the product %q in another case; two products must not differ in that alone, got %q", before.id, store.Abbreviate(key.Value))}
}

// unknown describes a key that nobody defines; "" if it follows from another warning.
func (w *keyWarner) unknown(ctx context.Context, key recordedMember) (string, error) {
	shown := store.Abbreviate(key.Value)
	switch key.Kind {
	case authoring.KeySKU:
		similar, err := w.similarSKU(ctx, key.Value)
		if similar != "" {
			return "is the SKU of no product; " + similar, err
		}
		return "is the SKU of no product in the " + w.lines + " or the store: " + strconv.Quote(shown), err
	case authoring.KeyModifier:
		return "is the name of no price modifier in the " + w.lines + " or the store: " + strconv.Quote(shown), nil
	case authoring.KeyChild:
		return "is true, but no product in the " + w.lines + " or the store has this parent", nil
	case authoring.KeyParent, authoring.KeyOptionCount:
		parent, count, _ := strings.Cut(key.Value, " ")
		_, unknown := w.missing[w.hash(authoring.KeyProduct, parent)]
		_, childless := w.missing[w.hash(authoring.KeyParent, parent)]
		switch {
		case unknown || key.Kind == authoring.KeyOptionCount && childless:
			return "", nil
		case key.Kind == authoring.KeyParent:
			return "refers to " + strconv.Quote(parent) + ", which is no parent of variants", nil
		}
		return "must have one option of each variation of the parent " + strconv.Quote(parent) + ", got " + count, nil
	case authoring.KeyOption:
		parent, option, _ := strings.Cut(key.Value, " ")
		_, unknown := w.missing[w.hash(authoring.KeyProduct, parent)]
		if _, childless := w.missing[w.hash(authoring.KeyParent, parent)]; unknown || childless {
			return "", nil
		}
		return "is not an option of the parent " + strconv.Quote(parent) + ": " + strconv.Quote(option), nil
	}
	return "refers to a " + string(key.Kind) + " that is neither in the " + w.lines + " nor in the store: " + strconv.Quote(shown), nil
}

// similarSKU describes a SKU that differs only in case; "" if there is none.
func (w *keyWarner) similarSKU(ctx context.Context, sku string) (string, error) {
	folded := strings.ToLower(sku)
	if _, inFiles := w.defined[w.hash(foldedSKU, folded)]; inFiles {
		return "a product of the " + w.lines + " has " + strconv.Quote(store.Abbreviate(sku)) + " in another case", nil
	}
	found, err := w.store.owners(ctx, w.session, authoring.KeySKU, []string{sku})
	if len(found) > 0 {
		return "a product of the store has " + strconv.Quote(found[0].key), err
	}
	return "", err
}

// Warn runs a pass over the files and calls found with each warning: by line, then member, at last those of redirects for pages
// of the files. Call Finish before.
func (c *keyChecker) Warn(ctx context.Context, batches func(func([]Line) error) error, in db.Session, found func(ImportError)) error {
	w := &keyWarner{keyChecker: c, last: map[uint64]definedAt{}, session: in}
	err := batches(func(batch []Line) error {
		for _, d := range batch {
			list, err := w.warnings(ctx, d)
			if err != nil {
				return err
			}
			slices.SortStableFunc(list, func(a, b ImportError) int { return slices.Compare(a.Err.Path, b.Err.Path) })
			for _, warning := range list {
				found(warning)
			}
		}
		return nil
	})
	for _, warning := range w.hidden {
		found(warning)
	}
	return err
}
