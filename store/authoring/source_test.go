package authoring_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/authoring"
)

// TestErrorsNameNull: null is called null, and no number.
func TestErrorsNameNull(t *testing.T) {
	t.Parallel()
	f := &authoring.Validator{}
	f.Array("items", json.RawMessage(`null`))
	f.Strings("names", json.RawMessage(`[null]`), true)
	f.Count("count", json.RawMessage(`null`))
	f.Count("count", json.RawMessage(`1.5`))
	require.EqualError(t, f.Errors, "items must be an array, got null.; names.0 must be a string, got null.; "+
		"count must be a whole number, got null.; count must be a whole number, got the number 1.5.")
}

// TestWordsNameWhatTheyMustNotHave: only members whose words are separated by commas forbid them.
func TestWordsNameWhatTheyMustNotHave(t *testing.T) {
	t.Parallel()
	f := &authoring.Validator{}
	f.Words("channels", []string{"a,b", "a\tb"}, false)
	f.Words("tags", []string{"a,b"}, true)
	require.EqualError(t, f.Errors, `channels.1 must have no control characters, got "a\tb".; tags.0 must have no control characters and no commas, got "a,b".`)
}
