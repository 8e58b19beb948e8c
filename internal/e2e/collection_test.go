package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
)

// collection is the part of the Postman collection format 2.1 that the test uses.
type collection struct {
	Info     struct{ Schema string }
	Variable []collectionValue
	Item     []collectionItem
}

type collectionValue struct{ Key, Value string }

// collectionItem is a folder or a request.
type collectionItem struct {
	Name    string
	Item    []collectionItem
	Request *collectionRequest
	Event   []struct {
		Listen string
		Script struct{ Exec []string }
	}
}

type collectionRequest struct {
	Method string
	Auth   *struct{ Type string } // nil for the collection's: the token
	Header []collectionValue
	URL    struct {
		Raw             string
		Path            []string
		Query, Variable []collectionValue
	}
	Body *struct {
		Mode, Raw  string
		URLEncoded []collectionValue
	}
}

// route returns the request's coordinate in the scope table.
func (r *collectionRequest) route() string {
	return r.Method + " /" + strings.Join(r.URL.Path, "/")
}

// flatten returns the requests in the order in which Postman sends them.
func flatten(t *testing.T, items []collectionItem) (requests []collectionItem) {
	for _, item := range items {
		if item.Request == nil {
			require.NotEmpty(t, item.Item, "%s is neither a folder nor a request", item.Name)
			requests = append(requests, flatten(t, item.Item)...)
			continue
		}
		requests = append(requests, item)
	}
	return requests
}

var (
	collectionPlaceholder = regexp.MustCompile(`\{\{([^}]*)\}\}`)
	collectionStatus      = regexp.MustCompile(`^pm\.response\.to\.have\.status\((\d+)\);$`)
	collectionKeeps       = regexp.MustCompile(`^pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.([\w.]+)\);$`)
)

// postman sends the requests of a collection as Postman does.
type postman struct {
	*serverProcess
	variables map[string]string
}

// fill replaces variables by their values, and fails for unknown ones.
func (p *postman) fill(t *testing.T, text string) string {
	t.Helper()
	return collectionPlaceholder.ReplaceAllStringFunc(text, func(placeholder string) string {
		name := strings.Trim(placeholder, "{}")
		if name == "$guid" {
			return uuid.NewString()
		}
		require.NotEmpty(t, p.variables[name], "the variable %s has no value yet", name)
		return p.variables[name]
	})
}

// address returns the path and query of a request.
func (p *postman) address(t *testing.T, r *collectionRequest) string {
	t.Helper()
	values := map[string]string{}
	for _, v := range r.URL.Variable {
		values[v.Key] = url.PathEscape(p.fill(t, v.Value))
	}
	var path strings.Builder
	for _, segment := range r.URL.Path {
		path.WriteByte('/')
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			require.NotEmpty(t, values[name], "the path's %s has no value", segment)
			segment = values[name]
			delete(values, name)
		}
		path.WriteString(segment)
	}
	require.Empty(t, values, "values without a path segment")
	raw, query := "{{base_url}}/"+strings.Join(r.URL.Path, "/"), url.Values{}
	for i, q := range r.URL.Query {
		raw += map[bool]string{true: "?", false: "&"}[i == 0] + q.Key + "=" + q.Value
		query.Add(q.Key, p.fill(t, q.Value))
	}
	require.Equal(t, raw, r.URL.Raw, "raw and structured URL agree")
	return path.String() + "?" + query.Encode()
}

// run sends a request and runs the effects of its script.
func (p *postman) run(t *testing.T, item collectionItem) {
	t.Helper()
	r, body, headers := item.Request, "", []string{}
	if r.Auth == nil {
		headers = append(headers, "Authorization", "Bearer "+p.fill(t, "{{token}}"))
	} else {
		require.Equal(t, "noauth", r.Auth.Type)
	}
	switch {
	case r.Body == nil:
	case r.Body.Mode == "raw":
		body, headers = p.fill(t, r.Body.Raw), append(headers, "Content-Type", "application/json")
	case r.Body.Mode == "urlencoded":
		form := url.Values{}
		for _, value := range r.Body.URLEncoded {
			form.Add(value.Key, p.fill(t, value.Value))
		}
		body, headers = form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")
	default:
		require.FailNow(t, "unknown mode of a body", r.Body.Mode)
	}
	for _, header := range r.Header {
		headers = append(headers, header.Key, p.fill(t, header.Value))
	}
	response, answer := p.send(t, r.Method, p.address(t, r), body, headers...)
	require.Len(t, item.Event, 1)
	require.Equal(t, "test", item.Event[0].Listen)
	checked := false
	for _, line := range item.Event[0].Script.Exec {
		if status := collectionStatus.FindStringSubmatch(line); status != nil {
			require.Equal(t, status[1], strconv.Itoa(response.StatusCode), answer)
			checked = true
		} else if keep := collectionKeeps.FindStringSubmatch(line); keep != nil {
			p.variables[keep[1]] = memberOf(t, answer, strings.Split(keep[2], "."))
		} else {
			require.FailNow(t, "unknown script line", line)
		}
	}
	require.True(t, checked, "the script asserts no status")
	require.Less(t, response.StatusCode, http.StatusBadRequest, answer)
	if r.route() == "POST /graphql" || r.route() == "GET /graphql" {
		require.NotContains(t, answer, `"errors"`)
	}
}

// memberOf returns a text member of a JSON document.
func memberOf(t *testing.T, text string, path []string) string {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value), text)
	for _, name := range path {
		object, ok := value.(map[string]any)
		require.True(t, ok, "%v in %s", path, text)
		value = object[name]
	}
	found, _ := value.(string)
	require.NotEmpty(t, found, "%v in %s", path, text)
	return found
}

// TestCollection requires one request for each route, and sends all of them in order, twice.
func TestCollection(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("rest/collection/portico.postman_collection.json")
	require.NoError(t, err)
	var c collection
	require.NoError(t, json.Unmarshal(text, &c))
	require.Contains(t, c.Info.Schema, "/v2.1.0/")
	requests := flatten(t, c.Item)

	asked := map[string]bool{}
	for _, item := range requests {
		_, declared := auth.Scope(item.Request.route())
		require.True(t, declared, "%s asks for %s, which is no route", item.Name, item.Request.route())
		asked[item.Request.route()] = true
	}
	for _, coordinate := range auth.Coordinates() {
		if coordinate == "GET /graphiql/:part" {
			continue // only with GraphiQL in the binary
		}
		if _, path, ok := strings.Cut(coordinate, " "); ok && strings.HasPrefix(path, "/") {
			require.True(t, asked[coordinate], "there is no request for %s", coordinate)
		}
	}

	p := &postman{serverProcess: startServer(t, "--demo"), variables: map[string]string{}}
	p.url = p.validated(t)
	for _, v := range c.Variable {
		p.variables[v.Key] = v.Value
	}
	printed := regexp.MustCompile(`client_id +(\S+)\n +client_secret +(\S+)\n`).FindStringSubmatch(p.printed(t))
	require.NotNil(t, printed)
	p.variables["base_url"], p.variables["client_id"], p.variables["client_secret"] = p.url, printed[1], printed[2]
	for _, round := range []string{"in order", "again"} {
		for _, item := range requests {
			t.Run(round+"/"+item.Name, func(t *testing.T) { p.run(t, item) })
		}
	}
}
