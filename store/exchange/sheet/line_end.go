package sheet

import "bufio"

// lineEndKeeper makes encoding/csv keep the line ends of quoted fields: of each \r\n it takes one \r away, so that this
// reader adds one. It follows quotes as that package does, which skips a line that is wrong.
type lineEndKeeper struct {
	in     *bufio.Reader
	comma  byte
	start  bool // the next byte begins a field
	quoted bool // the next byte is in a quoted field
	before byte // the last byte of in
	owed   bool // a \n, after the \r that was added
}

// Read reads the bytes of in, and more \r.
func (k *lineEndKeeper) Read(to []byte) (n int, err error) {
	for n < len(to) {
		if k.owed {
			to[n], k.owed = '\n', false
			n++
			continue
		}
		if n > 0 && k.in.Buffered() == 0 { // do not wait for more
			return n, nil
		}
		c, err := k.in.ReadByte()
		if err != nil {
			return n, err
		}
		was := k.before
		k.before = c
		switch {
		case k.quoted && c == '"':
			k.quoted = false // the second quote of two opens it again
			k.start = true
		case k.quoted && c == '\n' && was == '\r':
			c, k.owed = '\r', true
		case k.quoted:
		case c == '"' && k.start:
			k.quoted, k.start = true, false
		default:
			k.start = c == k.comma || c == '\n'
		}
		to[n] = c
		n++
	}
	return n, nil
}
