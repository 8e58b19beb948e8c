package exchange

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
)

// SheetIDs returns the id of the resource that each key names: the stored one, of several the
// first, or an id for a new one, which is what names it (the SKU, the price book and the SKU, the promotion
// and the code, the path of a redirect), if that can be an id and is free, else a UUID made from it.
func (s *Service) SheetIDs(ctx context.Context, keys []sheet.Key) (map[sheet.Key]string, error) {
	ids := make(map[sheet.Key]string, len(keys))
	err := s.db.Snapshot(ctx, func(in db.Session) error {
		stored, err := storedByKey(ctx, in, keys)
		if err != nil {
			return err
		}
		derived := map[string][]string{} // ids by kind
		for _, key := range keys {
			if found := stored[key]; len(found) > 0 {
				ids[key] = found[0]
			} else {
				ids[key] = derivedID(key)
				derived[key.Kind] = append(derived[key.Kind], ids[key])
			}
		}
		for _, lookup := range keyLookups {
			taken, err := db.CollectIn(ctx, in, db.Scalar[string], store.Unique(derived[lookup.kind]), `SELECT id FROM `+lookup.table+` WHERE id IN ($in)`)
			if err != nil {
				return err
			}
			occupied := store.SetOf(taken)
			for _, key := range keys {
				if key.Kind == lookup.kind && len(stored[key]) == 0 && occupied[ids[key]] {
					ids[key] = derivedUUID(key)
				}
			}
		}
		return nil
	})
	return ids, err
}

// derivedID returns the id of a new resource, which no other key of its kind has: one that could be made of another key too, such
// as list-a-b of the price books list and list-a, is a UUID. So is one that cannot be an id.
func derivedID(key sheet.Key) string {
	id := strings.TrimPrefix(key.In+"-"+key.Value, "-")
	ambiguous := strings.Contains(key.In, "-") || key.Kind == "synonym" && key.In == "" && strings.Contains(id, "-")
	f := &authoring.Validator{}
	if f.ID("id", &id); ambiguous || len(f.Errors) > 0 {
		return derivedUUID(key)
	}
	return id
}

// sheetSpace is the name space of UUIDs made from keys.
var sheetSpace = uuid.MustParse("0c6b1f0e-6a0a-4f0e-9a55-3b1f4f7f8a10")

// derivedUUID returns the UUID that is always made from a key.
func derivedUUID(key sheet.Key) string {
	return uuid.NewSHA1(sheetSpace, []byte(key.Kind+"\x00"+key.In+"\x00"+key.Value)).String()
}

// ExportSheet writes the resources of a type as a sheet, and returns the number of rows. The type
// is one of sheet.Kinds.
func (s *Service) ExportSheet(ctx context.Context, to io.Writer, kind string) (rows int, err error) {
	err = s.db.Snapshot(ctx, func(in db.Session) error {
		rows, err = writeSheet(ctx, in, to, kind)
		return err
	})
	return rows, err
}

// ExportSheets writes the whole store from one snapshot: a sheet for each type that has one and any
// resources, and the other resources as NDJSON. create is called with the type of each sheet, and with an
// empty one for the others. It returns the number of rows and lines. Importing all files into an empty store
// and exporting again gives the same files.
func (s *Service) ExportSheets(ctx context.Context, create func(kind string) (io.WriteCloser, error), options ExportOptions) (count int, err error) {
	sheets := store.SetOf(sheet.Kinds())
	options.Only = slices.DeleteFunc(KindNames(), func(kind string) bool { return sheets[kind] })
	err = s.db.Snapshot(ctx, func(in db.Session) error {
		fill := func(kind string, write func(io.Writer) (int, error)) error {
			file := &lateFile{create: func() (io.WriteCloser, error) { return create(kind) }}
			n, err := write(file)
			count += n
			return errors.Join(err, file.Close())
		}
		for _, kind := range KindNames() {
			if !sheets[kind] {
				continue
			}
			if err := fill(kind, func(to io.Writer) (int, error) { return writeSheet(ctx, in, to, kind) }); err != nil {
				return err
			}
		}
		return fill("", func(to io.Writer) (int, error) { return export(ctx, in, to, options) })
	})
	return count, err
}

// lateFile is created by its first bytes.
type lateFile struct {
	create func() (io.WriteCloser, error)
	file   io.WriteCloser
}

func (f *lateFile) Write(text []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = f.create(); err != nil {
			return 0, err
		}
	}
	return f.file.Write(text)
}

func (f *lateFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

func writeSheet(ctx context.Context, in db.Session, to io.Writer, kind string) (int, error) {
	return sheet.Write(to, kind, func(do func([]byte) error) (err error) {
		read := eachLine(ctx, in, check.KindByName(kind), nil, func(line []byte) {
			if err == nil {
				err = do(line)
			}
		})
		return cmp.Or(read, err)
	})
}
