package authoring

import "strconv"

// KeyedSource is a source that other resources can refer to by more than their
// relationships say, or that refers to others which need not exist. An import
// warns of keys that nobody defines, and of those that several define.
type KeyedSource interface {
	Source

	// Keys records the keys that the source defines and uses, after Check.
	Keys(KeyRecorder)
}

// KeyRecorder records keys. Members are dotted paths, as in the file; * stands for
// index, so that a member costs no memory until it is printed.
type KeyRecorder interface {
	Define(kind KeyKind, value, member string)
	Use(kind KeyKind, value, member string, index int)
}

// KeyKind is a kind of keys. The value of a key is unique within its kind.
type KeyKind string

// The kinds of keys. The name of each type of resource is one too: the key is its id,
// which every resource defines.
const (
	KeyProduct  KeyKind = "product"
	KeyFile     KeyKind = "file"
	KeyNode     KeyKind = "node"
	KeySKU      KeyKind = "sku"               // of a product
	KeySlug     KeyKind = "slug"              // of a product
	KeyNodeSlug KeyKind = "slug of node"      // of a node, with its hierarchy
	KeyPath     KeyKind = "path"              // of a redirect: no page has it
	KeyTarget   KeyKind = "node or hierarchy" // the id of one
	KeyModifier KeyKind = "modifier name"     // of a price modifier
	KeyChild    KeyKind = "child"             // the id of a product that has a child
	KeyOption   KeyKind = "option"            // OptionKey: an option of a parent's variations
	KeyParent   KeyKind = "parent"            // the id of a product that is a parent

	KeyOptionCount KeyKind = "number of options" // OptionCountKey: a parent's number of variations
	KeyVariant     KeyKind = "options"           // OptionKey: a parent and the options of a child, which no other has
)

// OptionCountKey returns the key of a parent with a number of variations, of each of which a child has an option.
func OptionCountKey(parentID string, count int) string {
	return parentID + " " + strconv.Itoa(count)
}

// OptionKey returns the key of an option, which belongs to a parent.
func OptionKey(parentID, optionID string) string { return parentID + " " + optionID }
