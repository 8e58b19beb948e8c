package shop

import (
	"encoding/json"
	"sync"

	"portico/store/authoring"
)

// refs are what a product refers to, by id.
type refs struct {
	once       sync.Once
	parent     string
	image      string
	children   []string
	components []string
	files      []FileLink
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
	s := &scan{left: body}
	s.skip(`,"relationships":{`)
	if s.has(`"parent":{"data":{"id":"`) {
		r.parent = s.text()
		s.skip(`,"type":"product"}},`)
	}
	s.skip(`"children":{"data":[`)
	r.children = scanProducts(s)
	s.skip(`,"files":{"data":[`)
	s.list(func() {
		link := FileLink{Type: "file"}
		s.skip(`{"type":"file","id":"`)
		link.ID = s.text()
		s.skip(`,"created_at":`)
		if !s.has(`null`) {
			s.skip(`"`)
			link.CreatedAt = s.text()
		}
		s.skip(`}`)
		r.files = append(r.files, link)
	})
	s.skip(`},"main_image":{"data":`)
	if !s.has(`null`) {
		s.skip(`{"id":"`)
		r.image = s.text()
		s.skip(`,"type":"main_image"}`)
	}
	s.skip(`},"component_products":{"data":[`)
	r.components = scanProducts(s)
	s.skip(`}`)
	return s.left, !s.failed
}

// scanProducts reads references, and the link behind them.
func scanProducts(s *scan) []string {
	ids := []string{}
	s.list(func() {
		s.skip(`{"id":"`)
		ids = append(ids, s.text())
		s.skip(`,"type":"product"}`)
	})
	s.skip(`,"links":{"self":"`)
	s.text()
	s.skip(`}}`)
	return ids
}

// decode takes the references of a body that scan could not read.
func (r *refs) decode(body []byte) error {
	var document struct {
		Relationships struct {
			Parent            authoring.LinkSource  `json:"parent"`
			Children          authoring.LinksSource `json:"children"`
			Files             fileLinks             `json:"files"`
			MainImage         authoring.LinkSource  `json:"main_image"`
			ComponentProducts authoring.LinksSource `json:"component_products"`
		} `json:"relationships"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return err
	}
	relations := &document.Relationships
	r.parent, r.image = relations.Parent.ID(), relations.MainImage.ID()
	r.children, r.components = refIDs(relations.Children), refIDs(relations.ComponentProducts)
	r.files = relations.Files.Data
	return nil
}

func (r *released) ParentID() string              { return r.refs().parent }
func (r *released) MainImageID() string           { return r.refs().image }
func (r *released) ChildIDs() []string            { return r.refs().children }
func (r *released) FileLinks() []FileLink         { return r.refs().files }
func (r *released) ComponentProductIDs() []string { return r.refs().components }

// NodeIDs are the nodes the product is attached to, the newest attachment
// first.
func (r *released) NodeIDs() []string { return r.read().Meta.BreadCrumbNodes }
