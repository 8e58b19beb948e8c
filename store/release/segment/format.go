package segment

// The version of the layout of documents, blocks, lists, sort keys and indexes. Raise
// ReleaseFormat with every change of those. A release of another format is no
// base for a delta, and is published again even if nothing else changed; until
// then it is read as it is.
const (
	ReleaseFormat      = 10
	FormatOfPresence   = 3  // the first that leaves out empty members (withoutEmpty), and lists every product and shown file
	FormatOfBlocks     = 7  // the first that stores products in blocks (block.go) only
	FormatOfAttributes = 9  // the first that indexes options, and attributes of one's own
	FormatOfFamilies   = 9  // the first that stores the children of parents (family.go) and the lists of subtrees
	formatOfBundles    = 10 // the first that stores what bundles require, and parents without live children
	formatOfWords      = 10 // the first that stores how often a description has a word, and the roles of words in names
)
