package cli

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// meter shows on a terminal how far a command is; elsewhere it is nil, and
// shows nothing. It may be moved from any goroutine.
type meter struct {
	bar  *progressbar.ProgressBar
	pass int64 // how far a further pass goes
	done atomic.Int64
}

// newMeter expects a number of passes of so many steps each; a length of -1 is
// not known.
func newMeter(w io.Writer, label string, length, passes int64) *meter {
	if !isTerminal(w) || length == 0 {
		return nil
	}
	return drawnMeter(w, label, length, passes)
}

func drawnMeter(w io.Writer, label string, length, passes int64) *meter {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(label), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionClearOnFinish(),
	}
	if length < 0 { // steps are bytes, and all that can be shown
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	}
	return &meter{pass: length, bar: progressbar.NewOptions64(max(length*passes, -1), options...)}
}

func (m *meter) add(n int64) {
	if m == nil {
		return
	}
	done := m.done.Add(n)
	if most := m.bar.GetMax64(); m.pass > 0 && done > most {
		m.bar.ChangeMax64(most + m.pass) // a pass more than was expected
	}
	_ = m.bar.Add64(n) // a bar that cannot be drawn is no reason to stop
}

// reach moves to a place rather than by a distance.
func (m *meter) reach(place int64) {
	if m != nil {
		m.add(place - m.done.Load())
	}
}

// end takes the bar off the screen.
func (m *meter) end() {
	if m != nil {
		_ = m.bar.Finish()
	}
}
