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

// A request may name its document, and leave it out: by its SHA-256, once
// somebody has sent both (automatic persisted queries, as Apollo's clients send
// them), or by the id that a manifest of trusted documents has it under.

// What became of a request's document, as metrics have it. A request that
// names none is not counted where there is no manifest.
const (
	OutcomeFound      = "found"      // it was named by its hash, and is known
	OutcomeMissing    = "missing"    // it was named by its hash, and is to be sent
	OutcomeSent       = "sent"       // it came with its hash
	OutcomeMismatched = "mismatched" // it came with another's hash or id
	OutcomeTrusted    = "trusted"    // the manifest has it
	OutcomeUntrusted  = "untrusted"  // the manifest does not have it, and it ran
	OutcomeRefused    = "refused"    // the manifest does not have it, and it did not run
)

// NotFoundMessage is what clients with automatic persisted queries wait for, word
// by word, to send the document with its hash.
const NotFoundMessage = "PersistedQueryNotFound"

const (
	PersistedQueryExtension = "persistedQuery" // the extension that names a document
	hashPrefix              = "sha256:"        // of an id that is a hash, as the specification of GraphQL over HTTP writes it
)

// documentID is what a request names its document by; empty for none.
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

// PersistedQuery is a document's id in the form that documentID reads.
func PersistedQuery(id string) map[string]any {
	return map[string]any{"version": json.Number("1"), "sha256Hash": id}
}

// Hash is what a document is kept by.
func Hash(query string) string {
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:])
}

// resolve finds the document of a request that names it, and holds it against
// the manifest. outcome is empty for what is not counted; hash is what the
// document is to be kept by.
func (d *Processor) resolve(params *graphql.RawParams) (outcome, hash string, fault *gqlerror.Error) {
	id, fault := documentID(params)
	if fault != nil || id == "" && (d.Manifest == nil || params.Query == "") {
		return "", "", fault
	}
	if trusted, ok := d.Manifest.document(id); ok {
		if params.Query == "" {
			params.Query = trusted
		}
		if params.Query == trusted {
			return OutcomeTrusted, "", nil
		}
		return OutcomeMismatched, "", errMismatched()
	}
	if params.Query == "" {
		if d.Manifest.enforces() {
			return OutcomeRefused, "", errUntrusted()
		}
		if params.Query = d.Cache.byHash(id); params.Query == "" {
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
	case d.Manifest.trusts(params.Query):
		outcome = OutcomeTrusted
	case d.Manifest.enforces():
		return OutcomeRefused, "", errUntrusted()
	case d.Manifest.logs():
		outcome = OutcomeUntrusted
	}
	return outcome, hash, nil
}

func errMismatched() *gqlerror.Error {
	return &gqlerror.Error{Message: "The document is not the one that is named: the hash must be the SHA-256 of the document as it is sent, in lower-case hexadecimal digits; or send the hash alone.",
		Extensions: map[string]any{"code": store.Invalid}}
}

func errUntrusted() *gqlerror.Error {
	return &gqlerror.Error{Message: "This server runs the documents of its manifest, and this is none of them: send one of those, by its id or as it is written there, or have this one added to the manifest.",
		Extensions: map[string]any{"code": store.Forbidden}}
}
