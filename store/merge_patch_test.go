package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestMergeObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, stored, patch, kept, dropped string }{
		{"none is stored", ``, `{"b":1,"a":null}`, `{"b":1}`, `{"b":1}`},
		{"members keep their order", `{"b":1,"a":2}`, `{"a":3,"b":4,"c":5}`, `{"b":4,"a":3,"c":5}`, `{"b":4,"a":3,"c":5}`},
		{"an object that is left without members", `{"a":{"b":1}}`, `{"a":{"b":null}}`, `{"a":{}}`, `{}`},
		{"an empty object that the patch has", `{}`, `{"a":{}}`, `{"a":{}}`, `{"a":{}}`},
		{"a list is replaced", `{"a":[1,2]}`, `{"a":[2]}`, `{"a":[2]}`, `{"a":[2]}`},
		{"the same list stays", `{"a":[{"y":1.50,"x":[null]}]}`, `{"a":[{"x":[null],"y":1.50}]}`, `{"a":[{"y":1.50,"x":[null]}]}`, `{"a":[{"y":1.50,"x":[null]}]}`},
		{"large numbers differ", `{"a":[9007199254740993]}`, `{"a":[9007199254740992]}`, `{"a":[9007199254740992]}`, `{"a":[9007199254740992]}`},
		{"type comes first", `{"id":"a"}`, `{"type":"b"}`, `{"type":"b","id":"a"}`, `{"type":"b","id":"a"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.kept, string(store.MergeObject([]byte(c.stored), []byte(c.patch), false)))
			require.Equal(t, c.dropped, string(store.MergeObject([]byte(c.stored), []byte(c.patch), true)))
		})
	}
}

func TestMergePatch(t *testing.T) {
	t.Parallel()
	patch := store.MergePatch{}
	patch.Set("A", "a", "b", "c")
	patch.Set(nil, "a", "b", "d")
	patch.Set([]int{1}, "e")
	require.Equal(t, `{"a":{"b":{"c":"A","d":null}},"e":[1]}`, string(store.Encode(patch)))
}
