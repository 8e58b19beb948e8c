// Package store defines what all packages share: errors, ids, money, times, pages,
// cursors, sorts and filter terms, with their rules. Its main types are Error, Page,
// Slice, Cursor and Observer. It imports no other package of the module but cachekey, and knows no
// resource and no database.
package store
