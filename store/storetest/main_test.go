package storetest

import (
	"testing"

	"portico/store/storetest/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
