package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"portico/graph/limits"
	"portico/store"
)

// TrustMode is what becomes of documents that a manifest does not have.
type TrustMode string

// They run; or run, and the log tells; or are refused before they are read.
const (
	TrustOff     TrustMode = "off"
	TrustLog     TrustMode = "log"
	TrustEnforce TrustMode = "enforce"
)

// Manifest is trusted documents by their ids, and the playground's examples
// without. A nil one has none.
type Manifest struct {
	mode  TrustMode
	byID  map[string]string
	texts map[string]struct{}
}

// apolloFormat is how Apollo's manifests begin; all others are a map.
const apolloFormat = "apollo-persisted-query-manifest"

// ReadManifestFile is ReadManifest of a file; nil where none is named.
func ReadManifestFile(path string, mode TrustMode, bounds limits.Bounds, examples ...string) (*Manifest, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	manifest, err := ReadManifest(text, mode, bounds, examples...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return manifest, nil
}

// ReadManifest reads trusted documents as build tools write them: a JSON
// object of documents by their ids, as the compiler of Relay and GraphQL Code
// Generator have it, or a manifest of Apollo's. Each document must be one that
// would run: a manifest with others is no manifest. The examples are trusted too,
// without an id, so that the playground works.
func ReadManifest(text []byte, mode TrustMode, bounds limits.Bounds, examples ...string) (*Manifest, error) {
	byID, err := manifestDocuments(text)
	if err != nil {
		return nil, err
	}
	m := &Manifest{mode: mode, byID: byID, texts: make(map[string]struct{}, len(byID))}
	reader := NewProcessor(Config{Schema: Schema(), Bounds: bounds})
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if _, faults := reader.parse(byID[id]); len(faults) > 0 {
			return nil, fmt.Errorf("the document %q cannot run: %w", id, faults[0])
		}
		m.texts[byID[id]] = struct{}{}
	}
	for _, example := range examples {
		m.texts[example] = struct{}{}
	}
	return m, nil
}

func manifestDocuments(text []byte) (map[string]string, error) {
	if err := store.CheckJSON(text); err != nil {
		return nil, err
	}
	var apollo struct {
		Format     json.RawMessage `json:"format"`
		Version    int             `json:"version"`
		Operations []struct {
			ID   string `json:"id"`
			Body string `json:"body"`
		} `json:"operations"`
	}
	if store.DecodeJSON(text, &apollo) != nil || string(apollo.Format) != `"`+apolloFormat+`"` {
		var byID map[string]string
		if json.Unmarshal(text, &byID) != nil || len(byID) == 0 {
			return nil, errors.New(`it must be {"id": "document", …}, or a manifest of the format ` + apolloFormat)
		}
		return byID, nil
	}
	if apollo.Version != 1 {
		return nil, fmt.Errorf("version %d of the format %s is not known here, 1 is", apollo.Version, apolloFormat)
	}
	byID := make(map[string]string, len(apollo.Operations))
	for _, operation := range apollo.Operations {
		if operation.ID == "" {
			return nil, errors.New("an operation has no id")
		}
		byID[operation.ID] = operation.Body
	}
	return byID, nil
}

// document is the document of an id.
func (m *Manifest) document(id string) (document string, ok bool) {
	if m == nil {
		return "", false
	}
	document, ok = m.byID[id]
	return document, ok
}

// trusts tells whether a document is trusted, byte by byte.
func (m *Manifest) trusts(document string) bool {
	if m == nil {
		return false
	}
	_, ok := m.texts[document]
	return ok
}

// enforces tells whether nothing else runs.
func (m *Manifest) enforces() bool { return m != nil && m.mode == TrustEnforce }

// logs tells whether the log tells what else runs.
func (m *Manifest) logs() bool { return m != nil && m.mode == TrustLog }
