package release

import (
	"encoding/json"

	"portico/store/authoring"
	"portico/store/catalog"
)

// productRefs are the ids that a product refers to.
type productRefs struct {
	parent     string
	image      string
	children   []string
	components []string
	files      []catalog.FileLink
}

// scan reads relationships in the exact form in which AppendRelationships
// writes them. It returns false for any other form.
func (r *productRefs) scan(body string) bool {
	s := &catalog.DocumentScanner{Input: body}
	s.Skip(`,"relationships":{`)
	if s.TrySkip(`"parent":{"data":{"id":"`) {
		r.parent = s.Text()
		s.Skip(`,"type":"product"}},`)
	}
	s.Skip(`"children":{"data":[`)
	r.children = scanProducts(s)
	s.Skip(`,"files":{"data":[`)
	var buffer [8]catalog.FileLink // on the stack, so that most lists are one allocation
	files := buffer[:0]
	s.List(func() {
		link := catalog.FileLink{Type: "file"}
		s.Skip(`{"type":"file","id":"`)
		link.ID = s.Text()
		s.Skip(`,"created_at":`)
		if !s.TrySkip(`null`) {
			s.Skip(`"`)
			link.CreatedAt = s.Text()
		}
		s.Skip(`}`)
		files = append(files, link)
	})
	r.files = append([]catalog.FileLink(nil), files...)
	s.Skip(`},"main_image":{"data":`)
	if !s.TrySkip(`null`) {
		s.Skip(`{"id":"`)
		r.image = s.Text()
		s.Skip(`,"type":"main_image"}`)
	}
	s.Skip(`},"component_products":{"data":[`)
	r.components = scanProducts(s)
	s.Skip(`}`)
	return !s.Failed
}

// scanProducts reads references to products, and the link after them.
func scanProducts(s *catalog.DocumentScanner) []string {
	ids := []string{}
	s.List(func() {
		s.Skip(`{"id":"`)
		ids = append(ids, s.Text())
		s.Skip(`,"type":"product"}`)
	})
	s.Skip(`,"links":{"self":"`)
	s.Text()
	s.Skip(`}}`)
	return ids
}

// decode reads the references of a body with encoding/json.
func (r *productRefs) decode(body string) error {
	var document struct {
		Relationships struct {
			Parent            authoring.LinkSource  `json:"parent"`
			Children          authoring.LinksSource `json:"children"`
			Files             catalog.FileLinks     `json:"files"`
			MainImage         authoring.LinkSource  `json:"main_image"`
			ComponentProducts authoring.LinksSource `json:"component_products"`
		} `json:"relationships"`
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		return err
	}
	relations := &document.Relationships
	r.parent, r.image = relations.Parent.ID(), relations.MainImage.ID()
	r.children, r.components = catalog.RefIDs(relations.Children), catalog.RefIDs(relations.ComponentProducts)
	r.files = relations.Files.Data
	return nil
}
