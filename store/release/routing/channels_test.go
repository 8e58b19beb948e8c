package routing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/release/routing"
	"portico/store/release/segment"
)

func TestChannels(t *testing.T) {
	t.Parallel()
	table := routing.NumberedTable(nil, rules(t, `all catalog_id="main"`, `phones catalog_id="main" channels=["mobile","app"]`, `apps catalog_id="main" channels=["app","tv"]`,
		`club catalog_id="main" channels=["secret"] account_ids=["a"]`,
		`winter catalog_id="main" channels=["snow"] schedules=[{"valid_from":"2024-01-01T00:00:00Z","valid_to":"2024-02-01T00:00:00Z"}]`),
		&segment.Release{ID: 1, CatalogID: "main", Locale: "en"}, nil)
	january := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"app", "mobile", "snow", "tv"}, table.Channels("main", january))
	require.Equal(t, []string{"app", "mobile", "tv"}, table.Channels("main", january.AddDate(0, 1, 0)))
	require.Equal(t, []string{}, table.Channels("other", january))
}
