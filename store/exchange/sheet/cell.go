package sheet

import (
	"encoding/json"
	"strings"

	"portico/store"
)

// linkValue is a link as import lines have it.
type linkValue struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// parse returns the value of a cell that is not empty, for an import line. problem says what the cell must be, if it is not; else it
// is empty.
func (c column) parse(content string) (value any, problem string) {
	trimmed := trimmedText(content)
	switch c.cell {
	case wordCell:
		return trimmed, ""
	case amountCell:
		if digits := strings.TrimPrefix(trimmed, "-"); digits == "" || strings.Trim(digits, "0123456789") != "" || !json.Valid([]byte(trimmed)) {
			return nil, "must be whole minor units, such as 1250 for 12.50"
		}
		return json.RawMessage(trimmed), ""
	case numberCell:
		if json.Valid([]byte(trimmed)) && strings.Trim(trimmed, "+-0123456789.eE") == "" {
			return json.RawMessage(trimmed), ""
		}
		return nil, "must be a number, such as 1250 or 12.5"
	case booleanCell:
		switch strings.ToLower(trimmed) {
		case "true", "yes", "1":
			return true, ""
		case "false", "no", "0":
			return false, ""
		}
		return nil, "must be true or false"
	case listCell:
		return parseList(trimmed)
	case oneOrMoreCell:
		if !strings.HasPrefix(trimmed, "[") && !strings.Contains(trimmed, "|") {
			return trimmed, ""
		}
		return parseList(trimmed)
	case linkCell:
		return linkValue{c.link, trimmed}, ""
	case linksCell:
		return c.parseLinks(trimmed)
	case objectCell:
		if !json.Valid([]byte(trimmed)) {
			return nil, "must be JSON"
		}
		return json.RawMessage(trimmed), ""
	default:
		return store.UnescapeFormula(content), ""
	}
}

// trimmedText returns the text of a cell without spaces around it, or as store.EscapeFormula got it.
func trimmedText(content string) string {
	if text := store.UnescapeFormula(content); text != content {
		return text
	}
	return strings.TrimSpace(content)
}

// parseList reads texts separated by |, or a JSON array of texts.
func parseList(content string) (any, string) {
	if strings.HasPrefix(content, "[") {
		var texts []string
		if json.Unmarshal([]byte(content), &texts) != nil {
			return nil, "must be texts separated by |, or a JSON array of texts"
		}
		return texts, ""
	}
	if strings.ContainsAny(content, ",;") && !strings.Contains(content, "|") {
		return nil, "must be separated by |, such as new|kitchen; a single text with a comma is written as [\"new, used\"]"
	}
	texts := []string{}
	for part := range strings.SplitSeq(content, "|") {
		if part = strings.TrimSpace(part); part != "" {
			texts = append(texts, part)
		}
	}
	return texts, ""
}

// parseLinks reads ids as parseList does, or a JSON array of links.
func (c column) parseLinks(content string) (any, string) {
	var whole []json.RawMessage
	if strings.HasPrefix(content, "[{") && json.Unmarshal([]byte(content), &whole) == nil {
		return whole, ""
	}
	ids, problem := parseList(content)
	if problem != "" {
		return nil, "must be ids separated by |, such as MUG-1|TEA-1, or a JSON array of links"
	}
	list := []linkValue{}
	for _, id := range ids.([]string) {
		list = append(list, linkValue{c.link, id})
	}
	return list, ""
}

// format returns the cell that parse reads as the value of a member. What no cell of the column can have becomes JSON.
func (c column) format(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		if c.cell == oneOrMoreCell && c.formatList([]any{v}) != v { // parse would take the text for a list
			return c.formatList([]any{v})
		}
		return v
	case []any:
		if c.cell == listCell || c.cell == linksCell || c.cell == oneOrMoreCell && len(v) > 1 {
			return c.formatList(v)
		}
	case map[string]any:
		if id, ok := v["id"].(string); ok && c.cell == linkCell {
			return id
		}
	}
	return string(store.Encode(value))
}

// formatList joins texts, or the ids of links, with |. If that would lose anything it writes JSON.
func (c column) formatList(values []any) string {
	var texts []string
	for _, value := range values {
		plain, ok := value.(string)
		if l, is := value.(map[string]any); is && len(l) == 2 && l["type"] == c.link {
			plain, ok = l["id"].(string)
		}
		if !ok || plain == "" || strings.TrimSpace(plain) != plain || strings.Contains(plain, "|") || strings.HasPrefix(plain, "[") {
			return string(store.Encode(values))
		}
		texts = append(texts, plain)
	}
	if len(texts) == 1 && strings.ContainsAny(texts[0], ",;") {
		return string(store.Encode(values))
	}
	return strings.Join(texts, "|")
}
