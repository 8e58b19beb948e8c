package rest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/settings"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const promotionMembers = `...promotion`

// wirePromotion converts a promotion of GraphQL to REST's shape.
func wirePromotion(p map[string]any) any {
	amount := func(a map[string]any) any {
		return map[string]any{"currency": a["currency"], "amount": json.Number(a["amount"].(string))}
	}
	rest := p["restDetails"].(map[string]any)
	schema := rest["schema"].(map[string]any)
	currencies, given := schema["currencies"]
	if !given {
		currencies = []any{}
	}
	return map[string]any{"type": "promotion", "id": p["uuid"], "name": p["name"], "description": orEmpty(p["description"]),
		"promotion_type": rest["promotion_type"], "enabled": p["enabled"], "automatic": p["automatic"],
		"state": strings.ToLower(p["state"].(string)), "start": p["start"], "end": p["end"],
		"min_cart_value": mapList(p["minCartValue"], amount), "max_discount_value": mapList(p["maxDiscountValue"], amount),
		"max_applications_per_cart": p["maxApplicationsPerCart"], "schema": schema, "currencies": currencies,
		"target_catalogs": p["targetCatalogUuids"], "conditions": schema["conditions"],
		"meta": map[string]any{"timestamps": map[string]any{"created_at": p["createdAt"], "updated_at": p["updatedAt"]}}}
}

// promotionID draws a promotion's id, sometimes an unknown one.
func (d *dice) promotionID() string {
	if d.chance(12) {
		return pick(d, "nowhere", "00000000-0000-4000-8000-000000000000", strings.Repeat("x", 65))
	}
	return d.id(store.TypePromotion, pick(d, append([]string{"ten-off", "auto"}, d.promotions...)...))
}

// drawPromotions draws a request for the list of promotions.
func drawPromotions(d *dice) *parityCase {
	l := d.list("GET /v2/promotions")
	q := &parityCase{method: "GET"}
	if l.chance(40) {
		key, direction := pick(d, "id", "name", "created_at", "updated_at"), pick(d, "ASC", "DESC")
		l.query.Set("sort", map[string]string{"ASC": "", "DESC": "-"}[direction]+key)
		l.arguments = append(l.arguments, fmt.Sprintf("orderBy: {field: %s, direction: %s}", strings.ToUpper(key), direction))
	}
	if l.chance(8) { // the request has no other error
		q.client = d.rejectedClient()
	} else if l.chance(60) {
		f := pick(d, [][2]string{
			{"eq(promotion_type,fixed_discount)", `{promotionType: [FIXED_DISCOUNT]}`}, {"in(state,active,expired)", `{state: [ACTIVE, EXPIRED]}`},
			{"eq(enabled,true):eq(automatic,false)", `{enabled: true, automatic: false}`}, {"eq(name,Ten off)", `{name: {eq: "Ten off"}}`},
			{"in(id,auto,ten-off)", `{ids: ["auto", "ten-off"]}`}, {"like(name,*off*)", `{nameLike: "*off*"}`},
			{"like(name,*OFF)", `{nameLike: "*OFF"}`}, {"like(name,t*)", `{nameLike: "t*"}`},
			{"like(name,ten off)", `{nameLike: "ten off"}`}, {"like(name,a*b)", `{nameLike: "a*b"}`},
			{"gt(id,b):le(created_at,2030-01-01)", `{bounds: {id: {gt: "b"}, createdAt: {le: "2030-01-01"}}}`},
			{"eq(colour,red)", `{colour: "red"}`}, {"gt(name,a)", `{name: {gt: "a"}}`}, {"eq(state,gone)", `{state: GONE}`},
			{"eq(enabled,yes)", `{enabled: "yes"}`},
		}...)
		l.query.Set("filter", f[0])
		l.arguments = append(l.arguments, "filter: "+f[1])
	}
	if l.chance(15) {
		l.number("page[limit]", "first", pick(d, 0, 101, -1))
	} else {
		l.page(nil)
	}
	q.target = l.address("/v2/promotions")
	q.document = l.document(`%s { promotions%s { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor } nodes { ` + promotionMembers + ` } } }`)
	q.variables = l.variables
	q.same = func(t require.TestingT, rest, data map[string]any) {
		list := data["promotions"].(map[string]any)
		l.samePage(t, rest, list, func(*drawnRequest) {})
		require.Equal(t, mapList(list["nodes"], wirePromotion), rest["data"])
	}
	return q
}

func drawPromotion(d *dice) *parityCase {
	id := d.promotionID()
	q := &parityCase{method: "GET", target: "/v2/promotions/" + id,
		document: `query($id: ID!) { promotion(id: $id) { ` + promotionMembers + ` } }`, variables: map[string]any{"id": id}}
	if d.chance(10) {
		q.client = d.rejectedClient()
	}
	q.same = func(t require.TestingT, rest, data map[string]any) {
		require.Equal(t, wirePromotion(data["promotion"].(map[string]any)), rest["data"])
	}
	return q
}

// promotionChange draws members for both APIs, valid or one of them invalid.
func (d *dice) promotionChange() (body, input map[string]any) {
	body, input = map[string]any{}, map[string]any{}
	set := func(name string, value any) { body[name], input[graphqlMember(name)] = value, value }
	set("name", pick(d, "A promotion", "Étude off", "Two words"))
	set("description", pick(d, "", "Something off."))
	set("start", pick(d, "2024-01-01", "2024-05-30T11:00", "2024-05-30T14:00:00+02:00"))
	set("end", pick(d, "2025-01-01", "2024-05-30T23:30:00Z"))
	kinds := map[string]any{"percent_discount": map[string]any{"percent": 12.5},
		"x_for_y":        map[string]any{"x": 3, "y": 2, "targets": []any{"A"}},
		"fixed_discount": map[string]any{"currencies": []any{map[string]any{"currency": "USD", "amount": 500}}},
		"bundle_gift": map[string]any{"gifts": []any{"G"}, "requirements": []any{map[string]any{"targets": "all", "quantity": 2}},
			"targets": pick[any](d, "all", nil)}}
	kind := pick(d, "percent_discount", "x_for_y", "fixed_discount", "bundle_gift")
	body["promotion_type"], body["schema"] = kind, kinds[kind]
	details := map[string]any{"percent_discount": map[string]any{"percentDiscount": map[string]any{"percent": "12.5"}},
		"x_for_y":        map[string]any{"xForY": map[string]any{"x": 3, "y": 2, "skus": []any{"A"}}},
		"fixed_discount": map[string]any{"fixedDiscount": map[string]any{"amounts": []any{map[string]any{"currency": "USD", "amount": "500"}}}}}[kind]
	asRest := details == nil || d.chance(50)
	if d.chance(50) {
		set("enabled", d.chance(50))
		body["min_cart_value"] = []any{map[string]any{"currency": "USD", "amount": 5000}}
		input["minCartValue"] = []any{map[string]any{"currency": "USD", "amount": "5000"}}
		set("max_applications_per_cart", pick(d, 0, 3))
		body["target_catalogs"] = []any{"main"}
	}
	if d.chance(25) {
		switch d.IntN(5) {
		case 0:
			set("end", "2023-01-01")
		case 1:
			set("name", strings.Repeat("x", 1025))
		case 2:
			body["schema"], asRest = map[string]any{"percent": 500, "x": 0, "currencies": 5}, true
		case 3:
			set("max_applications_per_cart", -1)
		default:
			body["promotion_type"], asRest = "half_price", true
		}
	}
	if asRest {
		rest := map[string]any{"promotion_type": body["promotion_type"], "schema": body["schema"]}
		if catalogs, given := body["target_catalogs"]; given {
			rest["target_catalogs"] = catalogs
		}
		input["restDetails"] = rest
	} else {
		input["details"] = details
		if catalogs, given := body["target_catalogs"]; given {
			input["targetCatalogIds"] = catalogs
		}
	}
	return body, input
}

func drawPromotionCreate(d *dice) *parityCase {
	body, input := d.promotionChange()
	q := &parityCase{method: "POST", target: "/v2/promotions", variables: map[string]any{"input": input},
		document: `mutation($input: PromotionCreateInput!) { promotionCreate(input: $input) { promotion { ` + promotionMembers +
			` } userErrors { field code message } } }`}
	q.send(d, body)
	q.same = func(t require.TestingT, rest, data map[string]any) {
		want := wirePromotion(data["promotionCreate"].(map[string]any)["promotion"].(map[string]any)).(map[string]any)
		got := rest["data"].(map[string]any)
		require.NotEqual(t, want["id"], got["id"], "each API created one")
		d.promotions = append(d.promotions, want["id"].(string), got["id"].(string))
		want["id"] = got["id"]
		require.Equal(t, want, got)
	}
	return q
}

func drawPromotionUpdate(d *dice) *parityCase {
	body, input := d.promotionChange()
	id := d.promotionID()
	input["id"] = id
	q := &parityCase{method: "PUT", target: "/v2/promotions/" + id, variables: map[string]any{"input": input},
		document: `mutation($input: PromotionUpdateInput!) { promotionUpdate(input: $input) { promotion { ` + promotionMembers +
			` } preview { ...preview } codesDeleted userErrors { field code message } } }`}
	if d.chance(40) {
		q.target, input["dryRun"] = q.target+"?dry_run=true", true
	}
	q.send(d, body)
	q.same = func(t require.TestingT, rest, data map[string]any) {
		payload := data["promotionUpdate"].(map[string]any)
		require.Equal(t, wirePromotion(updatedPromotion(payload)), rest["data"])
		if input["dryRun"] == true {
			require.Equal(t, payload["codesDeleted"], rest["meta"].(map[string]any)["codes_deleted"])
		}
	}
	return q
}

// updatedPromotion returns the promotion after an update or a dry run.
func updatedPromotion(payload map[string]any) map[string]any {
	if preview, dry := payload["preview"].(map[string]any); dry {
		return preview
	}
	return payload["promotion"].(map[string]any)
}

// drawPromotionDelete deletes two promotions, one created by each API, or an unknown one.
func drawPromotionDelete(d *dice) *parityCase {
	ids := []string{"nowhere", "nowhere"}
	if n := len(d.promotions); n >= 2 {
		ids, d.promotions = d.promotions[n-2:], d.promotions[:n-2]
	}
	return &parityCase{method: "DELETE", target: "/v2/promotions/" + ids[0], variables: map[string]any{"id": ids[1]},
		document: `mutation($id: ID!) { promotionDelete(input: {id: $id}) { deletedId userErrors { field code message } } }`,
		same: func(t require.TestingT, rest, data map[string]any) {
			require.Nil(t, rest)
			require.Equal(t, store.GlobalID(store.TypePromotion, ids[1]), data["promotionDelete"].(map[string]any)["deletedId"])
		}}
}

// send sets the body, wrapped in data or not, sometimes broken or with another type.
func (q *parityCase) send(d *dice, body map[string]any) {
	good := body["promotion_type"] != "half_price"
	wrapped := any(map[string]any{"data": body})
	if d.chance(25) {
		wrapped = body
	}
	text, _ := json.Marshal(wrapped) // cannot fail
	q.body = string(text)
	switch {
	case good && d.chance(6):
		q.client = d.rejectedClient()
	case d.chance(6):
		q.body, q.raw = pick(d, "", "{", "[]", `{"data":[]}`, `{"data":5}`), "{"
	}
}

const codeMembers = `...code`

// wireCode converts a code of GraphQL to REST's shape. Its user is always a list, see listUsers.
func wireCode(c map[string]any) any {
	return map[string]any{"type": "promotion_code", "id": c["uuid"], "promotion_id": c["promotion"].(map[string]any)["uuid"],
		"code": c["code"], "uses": c["remainingUses"],
		"max_uses": c["maxUses"], "consume_unit": strings.ToLower(c["consumeUnit"].(string)), "user": c["users"], "valid": c["valid"],
		"created_at": c["createdAt"]}
}

// listUsers converts the user of each of REST's codes to a list. REST keeps the form that was sent.
func listUsers(codes any) any {
	for _, code := range codes.([]any) {
		if user, ok := code.(map[string]any)["user"].(string); ok {
			code.(map[string]any)["user"] = []any{user}
		}
	}
	return codes
}

func drawCodes(d *dice) *parityCase {
	l := d.list("GET /v2/promotions/:id/codes")
	id := d.promotionID()
	l.argument("promotionId", "ID!", fmt.Sprintf("%q", id), id)
	q := &parityCase{method: "GET"}
	if l.chance(40) {
		key, direction := pick(d, "code", "created_at"), pick(d, "ASC", "DESC")
		l.query.Set("sort", map[string]string{"ASC": "", "DESC": "-"}[direction]+key)
		l.arguments = append(l.arguments, fmt.Sprintf("orderBy: {field: %s, direction: %s}", strings.ToUpper(key), direction))
	}
	if l.chance(8) {
		q.client = d.rejectedClient()
	} else if l.chance(40) {
		f := pick(d, [2]string{"eq(code,TEN-OFF)", `{code: {eq: "TEN-OFF"}}`},
			[2]string{"in(code,ten-off,none)", `{code: {in: ["ten-off", "none"]}}`}, [2]string{"gt(code,a)", `{code: {gt: "a"}}`},
			[2]string{"like(code,TEN*)", `{startsWith: "TEN"}`}, [2]string{"like(code,t*):in(state,available,expired)", `{startsWith: "t", state: [AVAILABLE, EXPIRED]}`},
			[2]string{"eq(state,used_up)", `{state: USED_UP}`}, [2]string{"ge(created_at,2024-01-01)", `{createdAt: {ge: "2024-01-01"}}`},
			[2]string{"lt(created_at,2100-01-01):like(code,*)", `{createdAt: {lt: "2100-01-01T00:00:00Z"}, startsWith: ""}`},
			[2]string{"eq(state,good)", `{state: GOOD}`}, [2]string{"like(code,*N)", `{like: "*N"}`})
		l.query.Set("filter", f[0])
		l.arguments = append(l.arguments, "filter: "+f[1])
	}
	l.page(nil)
	q.target = l.address("/v2/promotions/" + id + "/codes")
	of := strings.TrimPrefix(l.arguments[0], "promotionId")
	l.arguments = l.arguments[1:]
	q.document = l.document(`%s { promotion(id` + of + `) { codes%s { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor } nodes { ` + codeMembers + ` } } } }`)
	q.variables = l.variables
	q.same = func(t require.TestingT, rest, data map[string]any) {
		list := data["promotion"].(map[string]any)["codes"].(map[string]any)
		l.samePage(t, rest, list, func(*drawnRequest) {})
		require.Equal(t, mapList(list["nodes"], wireCode), listUsers(rest["data"]))
	}
	return q
}

// drawCodesCreate creates codes with both APIs. They differ only in their last letter.
func drawCodesCreate(d *dice) *parityCase {
	id := d.promotionID()
	var rows, inputs []any
	for range d.IntN(4) {
		row, input := map[string]any{}, map[string]any{}
		code := fmt.Sprint("C", d.IntN(1<<40))
		if d.chance(80) {
			row["code"], input["code"] = code+"r", code+"g"
		}
		if len(rows) > 0 && d.chance(10) { // a duplicate
			row["code"], input["code"] = rows[0].(map[string]any)["code"], inputs[0].(map[string]any)["code"]
		}
		if d.chance(40) {
			row["uses"] = pick(d, 1, 5, 0, -1, 1<<31-1)
			input["maxUses"] = row["uses"]
		}
		if d.chance(30) {
			unit := pick(d, "per_item", "per_cart")
			row["consume_unit"], input["consumeUnit"] = unit, strings.ToUpper(unit)
		}
		if d.chance(30) {
			row["user"] = pick[any](d, "u1", []any{"u1"}, []any{"u1", "u2"}, []any{}, []any{"u1", ""})
			input["users"] = row["user"]
		}
		rows, inputs = append(rows, row), append(inputs, input)
	}
	if rows == nil {
		rows, inputs = []any{}, []any{}
	}
	body, input := map[string]any{"type": "promotion_codes", "codes": rows}, map[string]any{"promotionId": id, "codes": inputs}
	if d.chance(30) {
		body["consume_unit"], input["consumeUnit"] = "per_item", "PER_ITEM"
	}
	if d.chance(30) {
		delete(body, "type")
	}
	q := &parityCase{method: "POST", target: "/v2/promotions/" + id + "/codes", variables: map[string]any{"input": input},
		document: `mutation($input: PromotionCodesCreateInput!) { promotionCodesCreate(input: $input) { promotion { ` + promotionMembers +
			` } codes { ` + codeMembers + ` } userErrors { field code message } } }`}
	q.send(d, body)
	q.same = func(t require.TestingT, rest, data map[string]any) {
		payload := data["promotionCodesCreate"].(map[string]any)
		got := rest["data"].(map[string]any)
		listUsers(got["codes"])
		want := wirePromotion(payload["promotion"].(map[string]any)).(map[string]any)
		want["codes"] = mapList(payload["codes"], wireCode)
		for i, code := range want["codes"].([]any) {
			there := got["codes"].([]any)[i].(map[string]any)
			d.codes = append(d.codes, [3]string{there["promotion_id"].(string), there["code"].(string), code.(map[string]any)["code"].(string)})
			if there["code"].(string)[0] == 'C' && there["code"].(string)[4] != '-' {
				require.Equal(t, strings.TrimRight(there["code"].(string), "r"), strings.TrimRight(code.(map[string]any)["code"].(string), "g"))
			}
			code.(map[string]any)["id"], code.(map[string]any)["code"] = there["id"], there["code"]
		}
		require.Equal(t, want, got)
	}
	return q
}

// codeMade draws a code that each API created, or an unknown one.
func (d *dice) codeMade() [3]string {
	if n := len(d.codes); n > 0 && d.chance(80) {
		made := d.codes[n-1]
		d.codes = d.codes[:n-1]
		return made
	}
	return [3]string{pick(d, "ten-off", "nowhere"), "none", "none"}
}

const codesDelete = `mutation($id: ID!, $codes: [String!]!) { promotionCodesDelete(input: {promotionId: $id, codes: $codes}) { deleted userErrors { field code message } } }`

func sameDeletion(t require.TestingT, rest, data map[string]any) {
	require.Nil(t, rest)
	require.Equal(t, json.Number("1"), data["promotionCodesDelete"].(map[string]any)["deleted"])
}

func drawCodesDelete(d *dice) *parityCase {
	made := d.codeMade()
	q := &parityCase{method: "DELETE", target: "/v2/promotions/" + made[0] + "/codes", document: codesDelete,
		variables: map[string]any{"id": made[0], "codes": []any{made[2]}}, same: sameDeletion}
	q.send(d, map[string]any{"codes": []any{pick[any](d, made[1], map[string]any{"code": made[1]})}})
	return q
}

func drawCodeDelete(d *dice) *parityCase {
	made := d.codeMade()
	return &parityCase{method: "DELETE", target: "/v2/promotions/" + made[0] + "/codes/" + made[1], document: codesDelete,
		variables: map[string]any{"id": made[0], "codes": []any{made[2]}}, same: sameDeletion}
}

// TestParityOfCodesInAnotherCase sends codes in another case than they were created in.
func TestParityOfCodesInAnotherCase(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		lines := slices.DeleteFunc(strings.Split(offers(), "\n"), func(line string) bool { // two of them differ in case alone
			return strings.Contains(line, `"type":"promotion_code"`)
		})
		s := openShop(t, e, strings.Join(lines, "\n"), withClock(testkit.NewClock(noon)))
		redeemCode(t, s)
		ignored := true
		_, err := s.store.Settings.Update(t.Context(), storetest.Actor, settings.Change{CodesIgnoreCase: &ignored})
		require.NoError(t, err)
		importLines(t, s.store, `{"type":"promotion_code","id":"spring-r","promotion_id":"spring","code":"FORREST"}`+"\n"+
			`{"type":"promotion_code","id":"spring-g","promotion_id":"spring","code":"FORGRAPHQL"}`)
		const usages = `query($code: String!) { promotionCodeUsages(promotionId: "spring", code: $code, first: 25) { totalCount nodes { ...usage } } }`
		sameUsages := func(t require.TestingT, rest, data map[string]any) {
			nodes := data["promotionCodeUsages"].(map[string]any)["nodes"].([]any)
			require.NotEmpty(t, nodes)
			require.Equal(t, mapList(nodes, wireUsage), rest["data"])
		}
		spring := "/v2/promotions/spring/codes"
		for _, c := range []struct {
			name   string
			q      parityCase
			body   any
			status int
		}{
			{"a filter", parityCase{method: "GET", target: spring + "?filter=eq(code,hi)",
				document: `query { promotion(id: "spring") { codes(filter: {code: {eq: "hi"}}) { nodes { ` + codeMembers + ` } } } }`,
				same: func(t require.TestingT, rest, data map[string]any) {
					nodes := mapList(data["promotion"].(map[string]any)["codes"].(map[string]any)["nodes"], wireCode)
					require.Len(t, nodes, 1)
					require.Equal(t, nodes, listUsers(rest["data"]))
				}}, nil, 200},
			{"usages", parityCase{method: "GET", target: spring + "/hi/usages", document: usages, variables: map[string]any{"code": "hi"}, same: sameUsages}, nil, 200},
			{"usages beyond ASCII", parityCase{method: "GET", target: spring + "/a+b%20%C3%9C/usages", document: usages, variables: map[string]any{"code": "a+b Ü"}, same: sameUsages}, nil, 200},
			{"a code that exists", parityCase{method: "POST", target: spring, variables: map[string]any{"input": map[string]any{"promotionId": "spring", "codes": []any{map[string]any{"code": "hI"}}}},
				document: `mutation($input: PromotionCodesCreateInput!) { promotionCodesCreate(input: $input) { userErrors { field code message } } }`},
				map[string]any{"type": "promotion_codes", "codes": []any{map[string]any{"code": "hI"}}}, 422},
			{"a deletion", parityCase{method: "DELETE", target: spring + "/forRest", document: codesDelete,
				variables: map[string]any{"id": "spring", "codes": []any{"forGraphQL"}}, same: sameDeletion}, nil, 204},
			{"a deletion again", parityCase{method: "DELETE", target: spring + "/forRest", document: codesDelete,
				variables: map[string]any{"id": "spring", "codes": []any{"forGraphQL"}}, same: sameDeletion}, nil, 404},
		} {
			if c.body != nil {
				text, err := json.Marshal(map[string]any{"data": c.body})
				require.NoError(t, err)
				c.q.body = string(text)
			}
			c.q.recordHint = func(string) {}
			require.Equal(t, c.status, requireSame(t, s, &c.q, c.name), c.name)
		}
	})
}
