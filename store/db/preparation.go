package db

import (
	"context"
	"sync"
)

// preparation delays that this process sees a change of TopicCatalog by another process, until it has
// prepared for it.
type preparation struct {
	mu      sync.Mutex
	cancel  context.CancelFunc
	done    chan struct{} // of the running one; nil for none
	version int64         // of the topic, which this process does not see yet
}

// running reports whether a change is delayed.
func (p *preparation) running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done != nil
}

// finish ends a preparation and returns when the process sees the change.
func (p *preparation) finish() {
	p.mu.Lock()
	cancel, done := p.cancel, p.done
	p.mu.Unlock()
	if done != nil {
		cancel()
		<-done
	}
}

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

// markBumped records that this process wrote a version of a topic, before it calls topicChanged.
func (p *polls) markBumped(name Topic, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bumped == nil {
		p.bumped = map[Topic]int64{}
	}
	p.bumped[name] = version
}

// hasBumped reports whether this process wrote a version of a topic.
func (p *polls) hasBumped(name Topic, version int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bumped[name] == version
}

// markTopicLoaded records that this process has loaded a version of a topic.
func (p *polls) markTopicLoaded(name Topic, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loaded == nil {
		p.loaded = map[Topic]int64{}
	}
	p.loaded[name] = max(p.loaded[name], version)
}
