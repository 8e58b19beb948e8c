package graph_test

import (
	"testing"
)

func TestMutationsRunInOrder(t *testing.T) {
	t.Parallel()
	runOnTestShop(t, []scenario{
		{name: "settings", query: `mutation { a: settingsUpdate(input: {pageLength: 7}) { settings { pageLength } } b: settingsUpdate(input: {currency: "USD"}) { settings { pageLength currency } } c: settingsUpdate(input: {pageLength: 8}) { settings { pageLength } } }`,
			data: `{"a":{"settings":{"pageLength":7}},"b":{"settings":{"pageLength":7,"currency":"USD"}},"c":{"settings":{"pageLength":8}}}`},
	})
}
