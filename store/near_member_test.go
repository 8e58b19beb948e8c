package store_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestNearName(t *testing.T) {
	known := []string{"id", "code", "uses", "user", "start", "consume_unit", "merchant_id", "targets"}
	for name, want := range map[string]string{
		"use": "uses", "usess": "uses", "sues": "uses", "uuses": "uses", "Uses": "uses", "USES": "uses", "cod": "code", "codes": "code", "user_": "user",
		"consumeUnit": "consume_unit", "consume-unit": "consume_unit", "consume_unti": "consume_unit", "consum_unt": "consume_unit", "CONSUMEUNIT": "consume_unit",
		"target": "targets", "tragets": "targets", "starts": "start", "merchantid": "merchant_id", "di": "id",
		"": "", "x": "", "type": "", "name": "", "cost": "", "us": "", "max_uses": "", "state": "start", "status": "", "consume_units_total": "", "customer_id": "", "target_id": "",
		strings.Repeat("a", 1e6): "",
	} {
		require.Equal(t, want, store.NearName(name, known), "%.20s", name)
	}
}

func TestUnknownMembers(t *testing.T) {
	type row struct {
		Uses int `json:"uses"`
	}
	type shape struct {
		Name  string         `json:"name"`
		Rows  []row          `json:"rows"`
		ByKey map[string]row `json:"by_key"`
		Raw   json.RawMessage
		row
	}
	for _, c := range []struct{ text, near, unknown string }{
		{`{"name":"a","rows":[{"uses":1}],"by_key":{"use":{"uses":1}},"Raw":{"use":1},"uses":1}`, "", ""},
		{`{"nam":"a"}`, "nam did you mean name?", "nam did you mean name?"},
		{`{"other":{"use":1}}`, "", "other the members are Raw, by_key, name, rows, uses"},
		{`{"rows":[{"uses":1},{"use":1}],"by_key":{"k":{"us\u0065":1}}}`, "rows.1.use did you mean uses? by_key.k.use did you mean uses?", "rows.1.use did you mean uses? by_key.k.use did you mean uses?"},
		{`{"Name":1}`, "Name did you mean name?", "Name did you mean name?"},
		{`[{"nam":1}]`, "", ""},
		{`{"nam":1,"nam":2}`, "nam did you mean name? nam did you mean name?", "nam did you mean name? nam did you mean name?"},
	} {
		shown := func(errs store.Errors) string {
			var texts []string
			for _, e := range errs {
				require.Equal(t, store.Unprocessable, e.Code)
				texts = append(texts, strings.Join(e.Path, ".")+" "+strings.TrimPrefix(e.Detail, "is unknown; "))
			}
			return strings.Join(texts, " ")
		}
		require.Equal(t, c.near, shown(store.NearMembers([]byte(c.text), reflect.TypeFor[shape]())), c.text)
		require.Equal(t, c.unknown, shown(store.UnknownMembers([]byte(c.text), reflect.TypeFor[shape]())), c.text)
	}
	many := `{` + strings.Repeat(`"nam":1,`, 1000) + `"name":"a"}`
	require.Len(t, store.NearMembers([]byte(many), reflect.TypeFor[shape]()), 20)
}
