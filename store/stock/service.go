package stock

import (
	"sync/atomic"

	"portico/store/db"
)

// Service reads and writes stock and its ledger.
type Service struct {
	db            *db.DB
	cache         *stockCache  // nil if disabled
	preferredLane atomic.Value // db.Topic: the lane last used by this process
	published     atomic.Int64 // changes that this process has published
	transactions  *stockQueue  // groups calls of Transact
	stockWatch    *stockWatch
}

// DropCache empties the cache, because the database file may have been replaced.
func (s *Service) DropCache() { s.cache.drop() }

// SuspectCache empties the cache and requires two equal reads before its next use, because the
// database may be a different one.
func (s *Service) SuspectCache() { s.cache.requireConfirmation() }

// ResetAfterRestore makes watchers accept the states of a restored database, whose revisions may be
// lower. Only the poll loop may call it.
func (s *Service) ResetAfterRestore() {
	s.stockWatch.Reset()
	s.stockWatch.lanes, s.stockWatch.cacheBehind = nil, true
	s.cache.requireConfirmation() // a load may have run meanwhile
}

// stockBatch is a list of changes that succeed or fail together.
type stockBatch struct {
	changes []Change
	order   []int // indexes of changes, by product
}

type (
	stockQueue   = db.WriteQueue[stockBatch, []*Transaction]
	stockRequest = db.QueuedRequest[stockBatch, []*Transaction]
)
