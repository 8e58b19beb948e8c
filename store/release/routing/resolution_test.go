package routing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/catalog"
	"portico/store/release/routing"
)

var noonOfMay = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// rules are made of lines "id member=[…] …"; the line's place is the order of
// import. A rule leads to the catalog of its own id unless it says otherwise,
// and was made at the same time as the others.
func rules(t require.TestingT, lines ...string) (list []*catalog.Rule) {
	for i, line := range lines {
		id, members, _ := strings.Cut(line, " ")
		attributes := []string{`"name":"` + id + `"`}
		for _, member := range strings.Fields(members) {
			name, value, _ := strings.Cut(member, "=")
			attributes = append(attributes, fmt.Sprintf("%q:%s", name, value))
		}
		for name, value := range map[string]string{"catalog_id": id, "created_at": "2024-01-01T00:00:00Z"} {
			if !strings.Contains(members, name+"=") {
				attributes = append(attributes, fmt.Sprintf("%q:%q", name, value))
			}
		}
		rule, err := routing.RuleOf(fmt.Sprintf(`{"type":"catalog_rule","id":%q,"attributes":{%s}}`, id, strings.Join(attributes, ",")), int64(i))
		require.NoError(t, err, line)
		list = append(list, rule)
	}
	return list
}

// everything is published but what is called unpublished.
func everything(catalogID string) bool { return !strings.HasPrefix(catalogID, "unpublished") }

// resolved is a row: rules, a shopper, and the result.
type resolved struct {
	rules   []string
	shopper routing.ShopperContext
	want    string            // the rule that wins; empty for none
	tie     routing.TieBreak  // what decided
	dropped map[string]string // the others, by rule
}

func TestWhichRuleWins(t *testing.T) {
	t.Parallel()
	mobile, web := routing.ShopperContext{Channel: "mobile"}, routing.ShopperContext{Channel: "web"}
	clearance := routing.ShopperContext{Channel: "mobile", Tags: []string{"clearance"}}
	acme := routing.ShopperContext{AccountID: "acme", AccountTags: []string{"gold"}, CustomerID: "bob"}
	with := func(s routing.ShopperContext, change func(*routing.ShopperContext)) routing.ShopperContext {
		change(&s)
		return s
	}
	for name, row := range map[string]resolved{
		"no rules, no winner":                        {want: ""},
		"a rule without criteria is the default":     {rules: []string{"default"}, want: "default"},
		"of two defaults the older":                  {rules: []string{"b created_at=\"2024-01-02T00:00:00Z\"", "a created_at=\"2024-01-01T00:00:00Z\""}, want: "a", tie: routing.TieOldest},
		"of two as old the one imported first":       {rules: []string{"b", "a"}, want: "b", tie: routing.TieImportedFirst},
		"the best match decides":                     {rules: []string{"default", "mobile channels=[\"mobile\"]", "offers channels=[\"mobile\"] tags=[\"clearance\"]"}, shopper: clearance, want: "offers"},
		"an empty header matches all channels' rule": {rules: []string{"all channels=[]"}, want: "all"},
		"a rule without channels fits every channel": {rules: []string{"tagged tags=[\"clearance\"]", "web channels=[\"web\"]"}, shopper: clearance, want: "tagged", dropped: map[string]string{"web": "nothing_matched"}},
		"an absent channel matches no channel's rule": {
			rules: []string{"mobile channels=[\"mobile\"]", "default"}, want: "default", dropped: map[string]string{"mobile": "nothing_matched"}},
		"an absent tag matches no tag's rule": {rules: []string{"clearance tags=[\"clearance\"]", "default"}, shopper: mobile, want: "default", dropped: map[string]string{"clearance": "nothing_matched"}},
		"another channel":                     {rules: []string{"mobile channels=[\"mobile\"]", "default"}, shopper: web, want: "default", dropped: map[string]string{"mobile": "nothing_matched"}},
		"a channel missed, a tag matched":     {rules: []string{"default", "offers channels=[\"web\"] tags=[\"clearance\"]"}, shopper: clearance, want: "offers"},
		"any of several context tags": {rules: []string{"default", "offers tags=[\"summer\",\"clearance\"]"},
			shopper: routing.ShopperContext{Tags: []string{"new", "clearance"}}, want: "offers"},
		"channels are compared as written":       {rules: []string{"default", "mobile channels=[\"Mobile\"]"}, shopper: mobile, want: "default", dropped: map[string]string{"mobile": "nothing_matched"}},
		"a rule for an account is the account's": {rules: []string{"default", "own account_ids=[\"acme\",\"other\"]"}, shopper: acme, want: "own"},
		"and nobody else's":                      {rules: []string{"own account_ids=[\"acme\"]", "default"}, shopper: mobile, want: "default", dropped: map[string]string{"own": "other_shopper"}},
		"however much else matches": {rules: []string{"own account_ids=[\"other\"] customer_ids=[\"bob\"] channels=[\"mobile\"] tags=[\"clearance\"]", "default"},
			shopper: with(acme, func(s *routing.ShopperContext) { s.Channel, s.Tags = "mobile", []string{"clearance"} }), want: "default", dropped: map[string]string{"own": "other_shopper"}},
		"an account tag":                  {rules: []string{"default", "gold account_tag_ids=[\"silver\",\"gold\"]"}, shopper: acme, want: "gold"},
		"another account tag":             {rules: []string{"default", "silver account_tag_ids=[\"silver\"]"}, shopper: acme, want: "default", dropped: map[string]string{"silver": "other_shopper"}},
		"a customer":                      {rules: []string{"default", "bobs customer_ids=[\"bob\"]"}, shopper: acme, want: "bobs"},
		"another customer":                {rules: []string{"default", "eves customer_ids=[\"eve\"]"}, shopper: acme, want: "default", dropped: map[string]string{"eves": "other_shopper"}},
		"an id in upper case is the same": {rules: []string{"default", "own account_ids=[\"C0FFEE00-0000-4000-8000-00000000000A\"]"}, shopper: routing.ShopperContext{AccountID: "c0ffee00-0000-4000-8000-00000000000A"}, want: "own"},
		"one for each criterion matched":  {rules: []string{"two account_ids=[\"acme\"] customer_ids=[\"bob\"]", "three account_ids=[\"acme\"] customer_ids=[\"bob\"] account_tag_ids=[\"gold\"]"}, shopper: acme, want: "three"},
		"several matches of one criterion count once": {rules: []string{"tags tags=[\"a\",\"b\",\"c\"] created_at=\"2024-02-01T00:00:00Z\"", "both tags=[\"a\"] channels=[\"mobile\"] created_at=\"2024-03-01T00:00:00Z\""},
			shopper: routing.ShopperContext{Channel: "mobile", Tags: []string{"a", "b", "c"}}, want: "both"},
		"the same score: fewest missed": {rules: []string{"wider channels=[\"mobile\"] tags=[\"new\"]", "exact channels=[\"mobile\"]"}, shopper: mobile, want: "exact", tie: routing.TieFewestMissed},
		"the same score and misses: oldest": {rules: []string{"young channels=[\"mobile\"] created_at=\"2024-01-01T00:00:00.001Z\"", "old channels=[\"mobile\"]"},
			shopper: mobile, want: "old", tie: routing.TieOldest},
		"a default never wins over a match":                {rules: []string{"default created_at=\"2000-01-01T00:00:00Z\"", "mobile channels=[\"mobile\"] tags=[\"x\"] account_ids=[]"}, shopper: mobile, want: "mobile"},
		"out of its schedule":                              {rules: []string{"default", "spring channels=[\"mobile\"] schedules=[{\"valid_from\":\"2024-03-01T00:00:00Z\",\"valid_to\":\"2024-05-30T12:00:00Z\"}]"}, shopper: mobile, want: "default", dropped: map[string]string{"spring": "out_of_schedule"}},
		"within one of its schedules":                      {rules: []string{"default", "often channels=[\"mobile\"] schedules=[{\"valid_to\":\"2024-01-01T00:00:00Z\"},{\"valid_from\":\"2024-05-30T12:00:00Z\"}]"}, shopper: mobile, want: "often"},
		"a schedule is no criterion":                       {rules: []string{"sale schedules=[{\"valid_from\":\"2024-05-01T00:00:00Z\"}]", "mobile channels=[\"mobile\"]"}, shopper: mobile, want: "mobile"},
		"and a scheduled default is one":                   {rules: []string{"sale schedules=[{\"valid_from\":\"2024-05-01T00:00:00Z\"}]", "default"}, want: "sale", tie: routing.TieImportedFirst},
		"a catalog that is not published cannot be chosen": {rules: []string{"unpublished channels=[\"mobile\"]", "default"}, shopper: mobile, want: "default", dropped: map[string]string{"unpublished": "not_published"}},
		"not even as the default":                          {rules: []string{"unpublished"}, want: "", dropped: map[string]string{"unpublished": "not_published"}},
		"what is told of a rule is the first that holds":   {rules: []string{"unpublished account_ids=[\"other\"] channels=[\"web\"]", "late account_ids=[\"other\"] schedules=[{\"valid_to\":\"2024-01-01T00:00:00Z\"}]"}, shopper: mobile, want: "", dropped: map[string]string{"unpublished": "other_shopper", "late": "out_of_schedule"}},
	} {
		t.Run(name, func(t *testing.T) {
			list := rules(t, row.rules...)
			require.Equal(t, row.want, routing.BestRule(list, row.shopper, noonOfMay, everything))
			verdicts, _, tie := routing.Verdicts(list, row.shopper, noonOfMay, everything)
			require.Equal(t, row.tie, tie, "what decided")
			require.Len(t, verdicts, len(row.rules), "every rule is explained")
			dropped := map[string]string{}
			for i, v := range verdicts {
				if v.Dropped != "" {
					dropped[v.Rule.ID] = string(v.Dropped)
				} else if i == 0 {
					require.Equal(t, row.want, v.Rule.ID, "the first candidate is the winner")
				}
			}
			if row.dropped == nil {
				row.dropped = map[string]string{}
			}
			require.Equal(t, row.dropped, dropped)
		})
	}
}

// A schedule is on at its first instant and off at its last; what is between
// two instants is not told apart beyond milliseconds.
func TestTheEdgesOfARulesSchedule(t *testing.T) {
	t.Parallel()
	list := rules(t, `rule schedules=[{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T13:00:00Z"},{"valid_from":"2024-06-01T00:00:00Z"}]`)
	for _, edge := range []struct {
		at    string
		holds bool
		until string // the next edge; empty when there is none
	}{
		{"2024-05-30T11:59:59.999Z", false, "2024-05-30T12:00:00Z"},
		{"2024-05-30T12:00:00Z", true, "2024-05-30T13:00:00Z"},
		{"2024-05-30T12:59:59.999Z", true, "2024-05-30T13:00:00Z"},
		{"2024-05-30T13:00:00Z", false, "2024-06-01T00:00:00Z"},
		{"2024-05-31T23:59:59.999Z", false, "2024-06-01T00:00:00Z"},
		{"2024-06-01T00:00:00Z", true, ""},
		{"2999-01-01T00:00:00Z", true, ""},
	} {
		at, err := time.Parse(time.RFC3339, edge.at)
		require.NoError(t, err)
		require.Equal(t, edge.holds, routing.BestRule(list, routing.ShopperContext{}, at, everything) != "", edge.at)
		_, until, _ := routing.Verdicts(list, routing.ShopperContext{}, at, everything)
		if edge.until == "" {
			require.True(t, until.IsZero(), "%s: %s", edge.at, until)
			continue
		}
		require.Equal(t, edge.until, until.Format(time.RFC3339), edge.at)
	}
	t.Run("an edge of a rule that never fits this shopper decides nothing", func(t *testing.T) {
		list := rules(t, `other account_ids=["acme"] schedules=[{"valid_from":"2024-06-01T00:00:00Z"}]`, `web channels=["web"] schedules=[{"valid_from":"2024-06-02T00:00:00Z"}]`)
		_, until, _ := routing.Verdicts(list, routing.ShopperContext{Channel: "mobile"}, noonOfMay, everything)
		require.True(t, until.IsZero())
		_, until, _ = routing.Verdicts(list, routing.ShopperContext{Channel: "web"}, noonOfMay, everything)
		require.Equal(t, "2024-06-02T00:00:00Z", until.Format(time.RFC3339))
	})
}

// drawShopper and drawRules draw from few values, so that much matches.
func drawShopper(t *rapid.T) routing.ShopperContext {
	word := rapid.SampledFrom([]string{"", "a", "b"})
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2)
	return routing.ShopperContext{Channel: word.Draw(t, "channel"), Tags: words.Draw(t, "tags"), AccountID: word.Draw(t, "account"),
		AccountTags: words.Draw(t, "account tags"), CustomerID: word.Draw(t, "customer")}
}

func drawRules(t *rapid.T) []*catalog.Rule {
	var lines []string
	for i := range rapid.IntRange(0, 8).Draw(t, "rules") {
		line := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"rule", "unpublished"}).Draw(t, "name"), i)
		for _, member := range []string{"account_ids", "account_tag_ids", "customer_ids", "channels", "tags"} {
			if values := rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"b"`}), 0, 2).Draw(t, member); rapid.Bool().Draw(t, "asks") {
				line += " " + member + "=[" + strings.Join(values, ",") + "]"
			}
		}
		hour := rapid.IntRange(10, 13).Draw(t, "from")
		if rapid.Bool().Draw(t, "scheduled") {
			line += fmt.Sprintf(` schedules=[{"valid_from":"2024-05-30T%d:00:00Z","valid_to":"2024-05-30T%d:00:00Z"}]`, hour, hour+1)
		}
		line += fmt.Sprintf(` created_at="2024-01-0%dT00:00:00Z"`, rapid.IntRange(1, 3).Draw(t, "day"))
		lines = append(lines, line)
	}
	return rules(t, lines...)
}

func TestTheWinnerDoesNotDependOnTheOrderAndNoneBeatsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list, shopper := drawRules(t), drawShopper(t)
		at := noonOfMay.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "hours")) * time.Hour)
		winner := routing.BestRule(list, shopper, at, everything)
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")
		require.Equal(t, winner, routing.BestRule(shuffled, shopper, at, everything))

		verdicts, until, _ := routing.Verdicts(shuffled, shopper, at, everything)
		again, _, _ := routing.Verdicts(list, shopper, at, everything)
		require.Equal(t, again, verdicts, "nor does the explanation")
		kept := slices.DeleteFunc(slices.Clone(verdicts), func(v *routing.RuleVerdict) bool { return v.Dropped != "" })
		require.Equal(t, winner == "", len(kept) == 0)
		for i, v := range kept {
			require.True(t, i > 0 || v.Rule.ID == winner)
			require.False(t, v.Foreign(), "nobody else's catalog is ever shown")
			require.True(t, v.Default() || v.Score > 0)
			require.True(t, i == 0 || routing.Better(kept[i-1], v), "the winner beats each of the others")
			require.False(t, i > 0 && routing.Better(v, kept[0]))
		}
		if !until.IsZero() {
			require.Equal(t, winner, routing.BestRule(list, shopper, until.Add(-time.Millisecond), everything), "until then nothing changes")
		}
	})
}
