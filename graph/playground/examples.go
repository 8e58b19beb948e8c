package playground

import (
	"regexp"
	"strings"
)

// commentLines are the lines that the page removes from an example before it sends it.
var commentLines = regexp.MustCompile(`(?m)^# .*\n`)

// Documents returns the documents that the page sends by itself: its examples, and the query that
// fills their variables. A server with --trusted-documents trusts them too, so that its page works: they must be the exact texts.
func Documents() (documents []string) {
	ids, _ := pageFiles.ReadFile("ids.graphql")
	documents = append(documents, strings.TrimSpace(commentLines.ReplaceAllString(string(ids), "")))
	text, _ := pageFiles.ReadFile("examples.graphql")
	for _, example := range strings.Split("\n"+string(text), "\n# example: ")[1:] {
		_, query, _ := strings.Cut(example, "\n")
		documents = append(documents, strings.TrimSpace(commentLines.ReplaceAllString(query+"\n", "")))
	}
	return documents
}
