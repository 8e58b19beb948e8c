package exchange

import (
	"bufio"
	"bytes"
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/exchange/check"
)

// eachStored calls do with the stored resources of a kind; those of only if that is not nil.
func eachStored(ctx context.Context, in db.Session, kind authoring.Kind, only []string, do func(d check.Line, line []byte)) error {
	decoder := newLineDecoder(ImportOptions{})
	return eachLine(ctx, in, kind, only, func(line []byte) {
		if d := decoder.Decode(line); d.Source != nil {
			do(d, line)
		}
	})
}

// eachLocked is eachLine for some resources, which it locks first: the transaction of w merges changes onto these lines, so
// no other write may come between. Call Sequence before, so that none creates one of the resources.
func eachLocked(ctx context.Context, w *authoring.Writer, kind authoring.Kind, ids []string, do func(line []byte)) error {
	if err := w.Lock(ctx, kind, ids); err != nil {
		return err
	}
	return eachLine(ctx, w.Session, kind, store.ValidIDs(ids), do)
}

// eachLine is eachStored with the lines as they are exported.
func eachLine(ctx context.Context, in db.Session, kind authoring.Kind, only []string, do func(line []byte)) error {
	e := &authoring.Exporter{In: in, Out: bufio.NewWriterSize(&lineSplitter{do: do}, 1<<16), Only: only}
	if err := kind.Export(ctx, e); err != nil {
		return err
	}
	return e.Out.Flush()
}

// lineSplitter is a writer that calls do with each line, without its end.
type lineSplitter struct {
	do      func([]byte)
	partial []byte
}

func (s *lineSplitter) Write(text []byte) (int, error) {
	n := len(text)
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			s.partial = append(s.partial, line...)
			return n, nil
		}
		if len(s.partial) > 0 {
			line = append(s.partial, line...)
		}
		s.do(line)
		s.partial, text = s.partial[:0], rest
	}
}
