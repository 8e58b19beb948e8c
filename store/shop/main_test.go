package shop_test

import (
	"testing"

	"portico/store"
	"portico/store/storetest"
)

func TestMain(m *testing.M) { storetest.SQLiteMain(m) }

// actor is the actor of writes in these tests.
const actor store.Actor = "client:test"
