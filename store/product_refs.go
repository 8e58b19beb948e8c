package store

import "sync"

// refs are what a product refers to, by id.
type refs struct {
	once       sync.Once
	damaged    bool
	parent     string
	image      string
	children   []string
	components []string
	files      []FileLink
}

// refs reads the relationships, which are all that a page with its includes
// asks of a body.
func (r *released) refs() *refs {
	r.referred.once.Do(func() {
		if !r.referred.scan(r.body[r.relations:]) {
			r.referred.damaged = true
			r.referred.take(r.read()) // which panics where it is
			r.referred.damaged = false
		}
	})
	if r.referred.damaged {
		r.read() // for everyone who asks, and not for the first alone
	}
	return &r.referred
}

// scan reads relationships as appendRelationships writes them.
func (r *refs) scan(body []byte) bool {
	s := scan{left: body}
	s.skip(`,"relationships":{`)
	if s.has(`"parent":{"data":{"id":"`) {
		r.parent = s.text()
		s.skip(`,"type":"product"}},`)
	}
	s.skip(`"children":{"data":[`)
	r.children = s.products()
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
	r.components = s.products()
	s.skip(`}`)
	return !s.failed
}

// products are references, and the link behind them.
func (s *scan) products() []string {
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

// take takes the references of a document that scan could not read.
func (r *refs) take(document *productDocument) {
	relations := &document.Relationships
	r.parent, r.image = relations.Parent.id(), relations.MainImage.id()
	r.children, r.components = refIDs(relations.Children), refIDs(relations.ComponentProducts)
	r.files = relations.Files.Data
}

func refIDs(l linksSource) []string {
	ids := make([]string, len(l.Data))
	for i, ref := range l.Data {
		ids[i] = ref.ID
	}
	return ids
}

func (r *released) ParentID() string              { return r.refs().parent }
func (r *released) MainImageID() string           { return r.refs().image }
func (r *released) ChildIDs() []string            { return r.refs().children }
func (r *released) FileLinks() []FileLink         { return r.refs().files }
func (r *released) ComponentProductIDs() []string { return r.refs().components }

// NodeIDs are the nodes the product is attached to, the newest attachment
// first.
func (r *released) NodeIDs() []string { return r.read().Meta.BreadCrumbNodes }
