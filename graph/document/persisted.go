package document

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// The outcomes of finding a request's document, as metrics name them. A request without hash and id is
// counted only if there is a manifest.
const (
	OutcomeFound      = "found"      // sent as a hash, and cached
	OutcomeMissing    = "missing"    // sent as a hash, not cached: the client must send the document
	OutcomeSent       = "sent"       // sent with its hash
	OutcomeMismatched = "mismatched" // sent with a wrong hash or id
	OutcomeTrusted    = "trusted"    // in the manifest
	OutcomeUntrusted  = "untrusted"  // not in the manifest, but run
	OutcomeRefused    = "refused"    // not in the manifest, and rejected
)

// NotFoundMessage is the exact message upon which clients with automatic persisted queries send the
// document with its hash.
const NotFoundMessage = "PersistedQueryNotFound"

const (
	// PersistedQueryExtension is the request extension that has the hash or id of a document.
	PersistedQueryExtension = "persistedQuery"

	hashPrefix = "sha256:" // of an id that is a hash, by the GraphQL over HTTP specification
)

// documentID returns the hash or id in a request's extensions, or "".
func documentID(params *graphql.RawParams) (string, *gqlerror.Error) {
	sent := params.Extensions[PersistedQueryExtension]
	if sent == nil {
		return "", nil
	}
	members, _ := sent.(map[string]any)
	id, _ := members["sha256Hash"].(string)
	if id == "" || fmt.Sprint(members["version"]) != "1" {
		return "", &gqlerror.Error{Message: `extensions.persistedQuery must be {"version": 1, "sha256Hash": "…"}.`, Extensions: map[string]any{"code": store.Invalid}}
	}
	return strings.TrimPrefix(id, hashPrefix), nil
}

// PersistedQuery returns the value of PersistedQueryExtension for a document id.
func PersistedQuery(id string) map[string]any {
	return map[string]any{"version": json.Number("1"), "sha256Hash": id}
}

// Hash returns the SHA-256 of a document in hexadecimal.
func Hash(query string) string {
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:])
}

// resolve sets params.Query to the document that a hash or id names: a hash is of a document that a
// client sent before (automatic persisted queries), an id is one of the manifest. It checks the document
// against the manifest. outcome is empty if the request is not counted, hash unless the document is to
// be cached by it.
//
// The order of the rules:
//
//  1. Without a manifest, a document without a hash is run.
//  2. An id of the manifest is its document. A document that was sent with it must be the same.
//  3. A hash without a document is looked up in the cache, unless the manifest enforces its own documents.
//  4. A hash with a document must be its hash.
//  5. If the manifest enforces its own documents, it must have the document of rule 3 or 4, or one without a hash.
func (p *Processor) resolve(params *graphql.RawParams) (outcome, hash string, err *gqlerror.Error) {
	id, err := documentID(params)
	if err != nil || id == "" && (p.Manifest == nil || params.Query == "") {
		return "", "", err
	}
	if trusted, ok := p.Manifest.document(id); ok {
		if params.Query == "" {
			params.Query = trusted
		}
		if params.Query == trusted {
			return OutcomeTrusted, "", nil
		}
		return OutcomeMismatched, "", errMismatched()
	}
	if params.Query == "" {
		if p.Manifest.enforces() {
			return OutcomeRefused, "", errUntrusted()
		}
		if params.Query = p.Cache.byHash(id); params.Query == "" {
			return OutcomeMissing, "", &gqlerror.Error{Message: NotFoundMessage, Extensions: map[string]any{"code": store.NotFound}}
		}
		outcome = OutcomeFound
	} else if id != "" {
		if Hash(params.Query) != id {
			return OutcomeMismatched, "", errMismatched()
		}
		outcome, hash = OutcomeSent, id
	}
	switch {
	case p.Manifest.trusts(params.Query):
		outcome = OutcomeTrusted
	case p.Manifest.enforces():
		return OutcomeRefused, "", errUntrusted()
	case p.Manifest.logs():
		outcome = OutcomeUntrusted
	}
	return outcome, hash, nil
}

func errMismatched() *gqlerror.Error {
	return &gqlerror.Error{Message: "The document does not match its hash or id. The hash must be the SHA-256 of the document as sent, in lower-case hexadecimal.",
		Extensions: map[string]any{"code": store.Invalid}}
}

func errUntrusted() *gqlerror.Error {
	return &gqlerror.Error{Message: "The document is not in the manifest of trusted documents. Send the id or the exact text of a trusted document, or add this one to the manifest.",
		Extensions: map[string]any{"code": store.Forbidden}}
}
