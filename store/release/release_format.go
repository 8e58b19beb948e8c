package release

// ReleaseFormat is what documents, lists, sort keys and indexes are made like.
// Raise it with every change of those: a release of another format is no base,
// and is published anew, even where nothing else changed. Until then it is read
// as it is.
const (
	ReleaseFormat     = 5
	formatOfSyllables = 2 // from which on runs are indexed by syllables (search_run.go)
	formatOfPresence  = 3 // from which on documents leave out what is told by presence (withoutEmpty), and every product and shown file is listed
)
