// Package store is the words that all of Portico speaks: errors, ids, money,
// times, pages, cursors, sorts and terms of filters, with the rules that hold
// wherever they are used. It knows no noun and no database, and imports
// nothing of ours. The rooms beneath it have the nouns; store/shop is their
// door.
package store
