package release

import (
	"encoding/json"
	"sync"

	"portico/store/authoring"
	"portico/store/catalog"
)

// refs are what a product refers to, by id.
type refs struct {
	once       sync.Once
	parent     string
	image      string
	children   []string
	components []string
	files      []catalog.FileLink
	damage     error
}

// refs reads the relationships, which are all that a page with its includes
// asks of a body.
func (r *released) refs() *refs {
	r.referred.once.Do(func() {
		if _, ok := r.referred.scan(r.body[r.relations:]); !ok {
			r.referred.damage = r.referred.decode(r.body)
		}
	})
	r.sound(r.referred.damage)
	return &r.referred
}

// scan reads relationships as appendRelationships writes them, and returns
// what is behind them.
func (r *refs) scan(body []byte) (rest []byte, ok bool) {
	s := &catalog.DocumentScanner{Input: body}
	s.Skip(`,"relationships":{`)
	if s.TrySkip(`"parent":{"data":{"id":"`) {
		r.parent = s.Text()
		s.Skip(`,"type":"product"}},`)
	}
	s.Skip(`"children":{"data":[`)
	r.children = scanProducts(s)
	s.Skip(`,"files":{"data":[`)
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
		r.files = append(r.files, link)
	})
	s.Skip(`},"main_image":{"data":`)
	if !s.TrySkip(`null`) {
		s.Skip(`{"id":"`)
		r.image = s.Text()
		s.Skip(`,"type":"main_image"}`)
	}
	s.Skip(`},"component_products":{"data":[`)
	r.components = scanProducts(s)
	s.Skip(`}`)
	return s.Input, !s.Failed
}

// scanProducts reads references, and the link behind them.
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

// decode takes the references of a body that scan could not read.
func (r *refs) decode(body []byte) error {
	var document struct {
		Relationships struct {
			Parent            authoring.LinkSource  `json:"parent"`
			Children          authoring.LinksSource `json:"children"`
			Files             catalog.FileLinks     `json:"files"`
			MainImage         authoring.LinkSource  `json:"main_image"`
			ComponentProducts authoring.LinksSource `json:"component_products"`
		} `json:"relationships"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return err
	}
	relations := &document.Relationships
	r.parent, r.image = relations.Parent.ID(), relations.MainImage.ID()
	r.children, r.components = catalog.RefIDs(relations.Children), catalog.RefIDs(relations.ComponentProducts)
	r.files = relations.Files.Data
	return nil
}

func (r *released) ParentID() string              { return r.refs().parent }
func (r *released) MainImageID() string           { return r.refs().image }
func (r *released) ChildIDs() []string            { return r.refs().children }
func (r *released) FileLinks() []catalog.FileLink { return r.refs().files }
func (r *released) ComponentProductIDs() []string { return r.refs().components }

// NodeIDs are the nodes the product is attached to, the newest attachment
// first.
func (r *released) NodeIDs() []string { return r.read().Meta.BreadCrumbNodes }
