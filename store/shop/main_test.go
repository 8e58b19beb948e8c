package shop_test

import (
	"testing"

	"portico/store"
	"portico/store/storetest/dbtest"
)

func TestMain(m *testing.M) { dbtest.SQLiteMain(m) }

// actor is the actor of writes in these tests.
const actor store.Actor = "client:test"
