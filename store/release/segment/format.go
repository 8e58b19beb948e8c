package segment

// The version of the layout of documents, lists, sort keys and indexes. Raise
// ReleaseFormat with every change of those. A release of another format is no
// base for a delta, and is published again even if nothing else changed; until
// then it is read as it is.
const (
	ReleaseFormat     = 5
	formatOfSyllables = 2 // the first that indexes texts without spaces by syllables
	FormatOfPresence  = 3 // the first that leaves out empty members (withoutEmpty), and lists every product and shown file
)
