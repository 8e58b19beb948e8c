package cli

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressBar shows progress on a terminal. A nil bar shows nothing. Its methods
// are safe for concurrent use.
type progressBar struct {
	bar  *progressbar.ProgressBar
	pass int64        // steps of one pass; -1 if unknown
	done atomic.Int64 // steps
}

// newProgressBar expects passes of length steps each; -1 means that the length
// is unknown. It returns nil if w is not a terminal.
func newProgressBar(w io.Writer, label string, length, passes int64) *progressBar {
	if !isTerminal(w) || length == 0 {
		return nil
	}
	return drawProgressBar(w, label, length, passes)
}

// drawProgressBar is newProgressBar for a terminal.
func drawProgressBar(w io.Writer, label string, length, passes int64) *progressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(label), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionClearOnFinish(),
	}
	if length < 0 { // steps are bytes
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	}
	return &progressBar{pass: length, bar: progressbar.NewOptions64(max(length*passes, -1), options...)}
}

// add moves the bar by n steps.
func (p *progressBar) add(n int64) {
	if p == nil {
		return
	}
	done := p.done.Add(n)
	if limit := p.bar.GetMax64(); p.pass > 0 && done > limit {
		p.bar.ChangeMax64(limit + p.pass) // one pass more than expected
	}
	_ = p.bar.Add64(n) // drawing is not essential
}

// set moves the bar to n steps.
func (p *progressBar) set(n int64) {
	if p != nil {
		p.add(n - p.done.Load())
	}
}

// end removes the bar.
func (p *progressBar) end() {
	if p != nil {
		_ = p.bar.Finish()
	}
}
