package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// An error names its member in camel case, in its field and in its message.
func TestErrorMembersAreInCamelCase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path []string
		want []string
		says string
	}{
		{nil, []string{}, "is so."},
		{[]string{"page_length"}, []string{"input", "pageLength"}, "pageLength is so."},
		{[]string{"changes", "0", "expected_available"}, []string{"input", "changes", "0", "expectedAvailable"}, "changes.0.expectedAvailable is so."},
		{[]string{"uses"}, []string{"input", "maxUses"}, "maxUses is so."},
		{[]string{"codes", "3", "uses"}, []string{"input", "codes", "3", "maxUses"}, "codes.3.maxUses is so."},
		{[]string{"codes", "3", "user", "0"}, []string{"input", "codes", "3", "users", "0"}, "codes.3.users.0 is so."},
		{[]string{"codes", "3", "consume_unit"}, []string{"input", "codes", "3", "consumeUnit"}, "codes.3.consumeUnit is so."},
		{[]string{"user"}, []string{"input", "user"}, "user is so."},
		{[]string{"schema", "gift_items", "0", "free_sku"}, []string{"input", "restDetails", "schema", "gift_items", "0", "free_sku"}, "restDetails.schema.gift_items.0.free_sku is so."},
	} {
		fault := &UserError{&store.Error{Path: test.path, Detail: "is so"}}
		require.Equal(t, test.want, fault.Field())
		require.Equal(t, test.says, fault.Message())
	}
}
