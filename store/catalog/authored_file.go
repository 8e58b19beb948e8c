package catalog

import "portico/store"

// AuthoredFile is a file as it was imported or written last, published or not.
type AuthoredFile struct {
	*File
	sourceSize
}

// GlobalID returns the global id of the authored file. The published file has another.
func (f *AuthoredFile) GlobalID() string { return store.GlobalID(store.TypeAuthoredFile, f.ID) }

func authoredFileOf(f *File, size sourceSize) *AuthoredFile { return &AuthoredFile{f, size} }
