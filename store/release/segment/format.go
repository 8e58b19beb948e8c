package segment

// ReleaseFormat is the version of the layout of documents, blocks, lists, sort keys and indexes. Raise
// it with every change of those. A release of another format is no
// base for a delta, and is published again even if nothing else changed; until
// then it is read as it is.
const ReleaseFormat = 2
