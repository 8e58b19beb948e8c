package remote

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRetryAfterIsAtMostADay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "soon": 0, "-1": 0, "7": 7, "999999": 86400,
		"Fri, 31 Dec 9999 23:59:59 GMT": 86400, "Thu, 01 Jan 1970 00:00:00 GMT": 0,
	} {
		require.Equal(t, want, parseRetryAfter(text), text)
	}
}
