package db

import "context"

// prepare calls Hooks.Prepare for a version of TopicCatalog, and then topicChanged. A call during another
// one joins it: what is read afterwards has both changes.
func (s *DB) prepare(version int64) {
	p := &s.preparation
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
	if p.done != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.cancel, p.done = cancel, done
	s.goroutines.Go(func() {
		defer close(done)
		defer cancel()
		go func() {
			select {
			case <-s.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		for found := int64(0); !s.hooks.Prepare(ctx); {
			p.mu.Lock()
			again := found != p.version && ctx.Err() == nil // its change may have come after Prepare looked
			found = p.version
			p.mu.Unlock()
			if !again {
				break
			}
		}
		p.mu.Lock()
		p.done = nil
		s.topicChanged(TopicCatalog)
		s.polls.markTopicLoaded(TopicCatalog, p.version)
		p.mu.Unlock()
		if s.hooks.Prepared != nil {
			s.hooks.Prepared(ctx)
		}
	})
}
