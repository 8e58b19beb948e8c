package remote

import (
	"testing"

	"portico/store/storetest"
)

func TestMain(m *testing.M) { storetest.SQLiteMain(m) }
