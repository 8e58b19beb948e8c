package remote

import (
	"testing"

	"portico/store/storetest/dbtest"
)

func TestMain(m *testing.M) { dbtest.SQLiteMain(m) }
