package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	stateFile    = "fetch.json" // the file of a folder that has its fetchState
	stateVersion = 2            // folders with another one are not continued
	maxBytes     = 64 << 30     // of a folder
)

// orderPart is the part that noteOrder writes and sortNodes reads. It has no lines to import.
const orderPart = "order"

// Folder holds the lines of a fetch in files of the import format, its parts, and the state. Lines that were written after the
// last commit are lost, and the next run writes them again.
type Folder struct {
	path  string
	state fetchState
	files map[string]*partFile // the open ones, by part

	unlock func() // nil after Close
}

// partFile is a part that lines are appended to.
type partFile struct {
	file   *os.File
	buffer *bufio.Writer
	bytes  int64 // of the file with the buffer
}

// openFolder opens and locks the folder of a fetch, or starts one. It continues only a fetch of the same catalog by the
// same client. The caller closes the folder.
func openFolder(path string, c Config) (*Folder, error) {
	unlock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, files: map[string]*partFile{}, unlock: unlock}
	if err := f.load(c); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// load reads the state, or starts a fetch. It cuts the parts back to what was committed, unless the fetch has finished.
func (f *Folder) load(c Config) error {
	text, err := os.ReadFile(filepath.Join(f.path, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f.start(c)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &f.state); err != nil || f.state.Version != stateVersion {
		return fmt.Errorf("%s was written by another version. Remove the folder to read the shop again", filepath.Join(f.path, stateFile))
	}
	if f.state.isEmpty() { // of a run that failed at its first request, maybe by another client
		return f.begin(c)
	}
	if f.state.URL != c.URL || f.state.ClientID != c.Credentials.ID || !slices.Equal(f.state.Languages, c.Languages) {
		return fmt.Errorf("the folder %s holds the shop of %s, read by another client or in other languages. Remove it, or use another with --from-folder", f.path, f.state.URL)
	}
	if f.state.Channel != c.Channel || !slices.Equal(f.state.Tags, c.Tags) {
		return fmt.Errorf("the folder %s holds the catalog of %s for %s. Import it first, remove the folder, or use another with --from-folder",
			f.path, f.state.URL, cmp.Or(f.state.shopper(), "shoppers without channel and tags"))
	}
	if f.state.Finished { // somebody may have corrected the lines
		return nil
	}
	for name, valid := range f.state.Parts {
		info, err := os.Stat(f.file(name))
		if err == nil && info.Size() < valid {
			err = fmt.Errorf("%s is shorter than %s says. Remove the folder to read the shop again", f.file(name), stateFile)
		}
		if err == nil {
			err = os.Truncate(f.file(name), valid) // what an interrupted run wrote after its last commit
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start begins a fetch in a folder without a state, which must have no other files.
func (f *Folder) start(c Config) error {
	names, err := filepath.Glob(filepath.Join(f.path, "*"))
	if err == nil && slices.ContainsFunc(names, func(name string) bool { return filepath.Base(name) != lockName }) {
		err = fmt.Errorf("the folder %s has other files. Use an empty one with --from-folder", f.path)
	}
	if err != nil {
		return err
	}
	return f.begin(c)
}

// begin writes the state of a new fetch.
func (f *Folder) begin(c Config) error {
	f.state = fetchState{Version: stateVersion, URL: c.URL, ClientID: c.Credentials.ID, Languages: c.Languages, Channel: c.Channel, Tags: c.Tags, StartedAt: time.Now().UTC().Truncate(time.Second),
		Done: map[string]bool{}, At: map[string]*position{}, Parts: map[string]int64{}, Pricebooks: map[string]int{}, Modifiers: map[string]*modifier{}, Counts: map[string]int{}, Refused: map[string]string{}}
	return f.commit()
}

// Path returns the path of the folder.
func (f *Folder) Path() string { return f.path }

// file returns the path of a part.
func (f *Folder) file(part string) string {
	if part == orderPart {
		return filepath.Join(f.path, part+".json")
	}
	return filepath.Join(f.path, part+".ndjson")
}

// Remove deletes the files of the fetch, and the folder if it is empty then. It closes the folder.
func (f *Folder) Remove() error {
	defer func() {
		f.Close()
		_ = os.Remove(f.path) // fails if it has other files
	}()
	f.closeParts()
	for _, name := range append([]string{orderPart}, linePartNames...) { // also what was not committed
		if err := os.Remove(f.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(filepath.Join(f.path, stateFile))
}

// Close lets others use the folder. What was not committed is lost. It may be called again.
func (f *Folder) Close() {
	f.closeParts()
	if f.unlock != nil {
		f.unlock()
		f.unlock = nil
	}
}

// write appends a line to a part, and counts it as "lines." and the part.
func (f *Folder) write(name string, line any) error {
	p, err := f.part(name)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(&counter{p})
	encoder.SetEscapeHTML(false)
	f.state.Counts["lines."+name]++
	return encoder.Encode(line)
}

// counter writes to the buffer of a part, and counts the bytes.
type counter struct{ *partFile }

func (c *counter) Write(text []byte) (int, error) {
	n, err := c.buffer.Write(text)
	c.bytes += int64(n)
	return n, err
}

// part returns a part open for appending. It cuts off what an interrupted run wrote after its last commit.
func (f *Folder) part(name string) (*partFile, error) {
	if p := f.files[name]; p != nil {
		return p, nil
	}
	file, err := os.OpenFile(f.file(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	valid := f.state.Parts[name]
	if err = file.Truncate(valid); err == nil {
		_, err = file.Seek(valid, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	p := &partFile{file: file, buffer: bufio.NewWriterSize(file, 1<<16), bytes: valid}
	f.files[name] = p
	return p, nil
}

// commit makes what was written so far valid: it writes the buffers to the parts, then the state with their lengths. It fails
// if the parts exceed maxBytes.
func (f *Folder) commit() error {
	for name, p := range f.files {
		if err := p.buffer.Flush(); err != nil {
			return err
		}
		f.state.Parts[name] = p.bytes
	}
	var total int64
	for _, n := range f.state.Parts {
		total += n
	}
	if total > maxBytes {
		return fmt.Errorf("the shop has more than %d GiB of lines. Is its server one of a commerce service?", maxBytes>>30)
	}
	text, err := json.Marshal(f.state)
	if err != nil {
		return err
	}
	temporary := filepath.Join(f.path, stateFile+".new")
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(f.path, stateFile))
}

// closeParts closes the files. What was not committed is lost.
func (f *Folder) closeParts() {
	for _, p := range f.files {
		_ = p.file.Close() // what counts was flushed by commit
	}
	f.files = map[string]*partFile{}
}

// ids returns the ids of the valid lines of a part.
func (f *Folder) ids(name string) (map[string]bool, error) {
	found := map[string]bool{}
	return found, f.each(name, func(text []byte) error {
		found[idOf(text)] = true
		return nil
	})
}

// each calls a function for each valid line of a part.
func (f *Folder) each(name string, do func(text []byte) error) error {
	if f.state.Parts[name] == 0 {
		return nil
	}
	file, err := os.Open(f.file(name))
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(io.LimitReader(file, f.state.Parts[name]), 1<<16)
	for {
		text, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			if err := do(text); err != nil {
				return fmt.Errorf("%s: %w", f.file(name), err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// linePartNames are the parts with lines to import, in their order.
var linePartNames = []string{"settings", "catalog", "hierarchies", "nodes", "files", "products", "prices", "stock", "promotions", "codes", "gateways"}
