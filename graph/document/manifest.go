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

// TrustMode is how to treat documents that are not in the manifest.
type TrustMode string

const (
	TrustOff     TrustMode = "off"     // run
	TrustLog     TrustMode = "log"     // run and log
	TrustEnforce TrustMode = "enforce" // reject before parsing
)

// Manifest holds the trusted documents. A nil manifest is empty.
type Manifest struct {
	mode  TrustMode
	byID  map[string]string   // documents
	texts map[string]struct{} // of all documents, with and without id
}

// apolloFormat is the member "format" of Apollo's manifests.
const apolloFormat = "apollo-persisted-query-manifest"

// ReadManifestFile calls ReadManifest for a file. It returns nil if path is empty.
func ReadManifestFile(path string, mode TrustMode, bounds limits.Config, examples ...string) (*Manifest, error) {
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

// ReadManifest parses a manifest as build tools write it: a JSON object of documents by id (Relay,
// GraphQL Code Generator) or Apollo's format. It fails if a document is not valid for the schema and
// the bounds. The examples are trusted too, without an id, so that the playground works.
func ReadManifest(text []byte, mode TrustMode, bounds limits.Config, examples ...string) (*Manifest, error) {
	byID, err := manifestDocuments(text)
	if err != nil {
		return nil, err
	}
	m := &Manifest{mode: mode, byID: byID, texts: make(map[string]struct{}, len(byID))}
	processor := NewProcessor(Config{Schema: Schema(), Limits: bounds})
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if _, errs := processor.parse(byID[id]); len(errs) > 0 {
			return nil, fmt.Errorf("the document %q cannot run: %w", id, errs[0])
		}
		m.texts[byID[id]] = struct{}{}
	}
	for _, example := range examples {
		m.texts[example] = struct{}{}
	}
	return m, nil
}

// manifestDocuments returns the documents of a manifest by id. A manifest that is not Apollo's is an object of documents by id.
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
			return nil, errors.New(`must be {"id": "document", …}, or a manifest of the format ` + apolloFormat)
		}
		return byID, nil
	}
	if apollo.Version != 1 {
		return nil, fmt.Errorf("version %d of the format %s is not supported; version 1 is", apollo.Version, apolloFormat)
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

// document returns the document of an id.
func (m *Manifest) document(id string) (document string, ok bool) {
	if m == nil {
		return "", false
	}
	document, ok = m.byID[id]
	return document, ok
}

// trusts reports whether the exact text of a document is trusted.
func (m *Manifest) trusts(document string) bool {
	if m == nil {
		return false
	}
	_, ok := m.texts[document]
	return ok
}

// enforces reports whether other documents are rejected.
func (m *Manifest) enforces() bool { return m != nil && m.mode == TrustEnforce }

// logs reports whether other documents are logged.
func (m *Manifest) logs() bool { return m != nil && m.mode == TrustLog }
