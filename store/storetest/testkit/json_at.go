package testkit

import "github.com/stretchr/testify/require"

// JSONAt returns the member at a path.
func JSONAt(t require.TestingT, value any, path ...string) any {
	for _, name := range path {
		members, ok := value.(map[string]any)
		require.True(t, ok, "%s of %v", name, path)
		require.Contains(t, members, name)
		value = members[name]
	}
	return value
}
