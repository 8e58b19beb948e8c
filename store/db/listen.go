package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"portico/store"
)

// Servers on PostgreSQL tell each other of commits by NOTIFY, so that the others poll at once.
// Nothing depends on it: a server polls every PollEvery while it has requests or hears nothing.
//
// A notification is sent after the commit, in a transaction of its own, because NOTIFY takes
// a lock until its transaction has committed, which would let one write commit at a time.

const (
	announceGap    = hastenGap              // least time between two notifications of a process
	echoTimeout    = 2 * time.Second        // for receiving one's own, once it was sent
	minListenPause = 250 * time.Millisecond // before connecting again; doubles
	maxListenPause = time.Minute
)

// announce tells other servers that there is something to poll.
func (s *DB) announce() {
	select {
	case s.announcements <- struct{}{}:
	default: // already pending
	}
}

// sendAnnouncements sends notifications, several writes in one, until the database closes.
func (s *DB) sendAnnouncements(ctx context.Context) {
	for {
		select {
		case <-s.announcements:
			_ = s.notify(s.id)
		case <-ctx.Done():
			select { // the last one, of a command that ends after its write
			case <-s.announcements:
				_ = s.notify(s.id)
			default:
			}
			return
		}
		select {
		case <-time.After(announceGap):
		case <-ctx.Done():
		}
	}
}

// notify sends a notification. If it cannot, the others poll.
func (s *DB) notify(sender string) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.connection.Timeouts.Connection)
	defer cancel()
	_, err := s.pools.Read.ExecContext(ctx, s.dialect.Notify(), sender)
	return err
}

// errNoEcho means that the connection does not receive notifications.
var errNoEcho = errors.New("PostgreSQL's notifications do not arrive, as through PgBouncer in transaction mode")

// listen receives notifications and connects again after an error, until ctx ends.
func (s *DB) listen(ctx context.Context) {
	pause, logged := minListenPause, false
	for ctx.Err() == nil {
		err := s.listenOnce(ctx)
		if s.listening.Swap(false) {
			pause, logged = minListenPause, false
			s.hasten() // ends an idle pause
		}
		if !logged && errors.Is(err, errNoEcho) {
			logged = true
			s.Log.Info("this server polls for the writes of other servers, four times a second", "reason", err.Error())
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, maxListenPause)
	}
}

// listenOnce receives notifications by one connection until it fails. It returns errNoEcho if not even
// this process's own arrives.
func (s *DB) listenOnce(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, s.connection.Timeouts.Connection)
	defer cancel()
	l, err := s.pools.Listen(opening)
	if err != nil {
		return err
	}
	defer l.Close()
	echo := s.id + " " + store.NewID() // the space tells it from the id by which a process announces a write
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	sent := make(chan struct{})
	go func() { // by another connection, as other servers do; a distant database takes several round trips to connect
		defer close(sent)
		if err := s.notify(echo); err != nil {
			end(fmt.Errorf("send a notification: %w", err))
			return
		}
		time.AfterFunc(s.echoTimeout, func() { end(errNoEcho) })
	}()
	defer func() { <-sent }()
	for {
		sender, err := l.Wait(waiting)
		switch {
		case err != nil && ctx.Err() == nil && waiting.Err() != nil:
			return fmt.Errorf("%w: %w", context.Cause(waiting), err)
		case err != nil:
			return err
		case sender == echo:
			waiting = ctx
			s.listening.Store(true)
		case sender != s.id && !strings.Contains(sender, " "): // not the echo of another process
			s.hasten()
		}
	}
}

// hasten makes the poll loop poll soon.
func (s *DB) hasten() {
	select {
	case s.polls.hastened <- struct{}{}:
	default: // already hastened
	}
}
