package shop

// stockSource is a balance. Its id is the product's.
type stockSource struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Available int    `json:"available"`
	Allocated int    `json:"allocated"`
	Total     int    `json:"total"`
	CreatedAt string `json:"created_at,omitempty"`
	UpdatedAt string `json:"updated_at,omitempty"`
}

func (s *stockSource) key() string { return s.ID }

func (s *stockSource) check(f *faults) {
	f.id("id", &s.ID)
	f.between("available", s.Available, 0, MaxStock)
	f.between("allocated", s.Allocated, 0, MaxStock)
	if total := s.Available + s.Allocated; s.Total != total || total > MaxStock {
		f.add("total", "must be available plus allocated, %d, and at most %d, not %d", total, MaxStock, s.Total)
	}
	f.time("created_at", &s.CreatedAt)
	f.time("updated_at", &s.UpdatedAt)
}

// stockTransactionSource is a line of the ledger. Lines of one product stand
// in the order in which they were made.
type stockTransactionSource struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ProductID string `json:"product_id"`
	Action    string `json:"action"`
	Quantity  int    `json:"quantity"`
	Allocated int    `json:"allocated,omitempty"` // units allocated by the balance that an import opened the ledger with
	Reason    string `json:"reason,omitempty"`
	Reference string `json:"reference,omitempty"`
	Actor     string `json:"actor,omitempty"`
	CreatedAt string `json:"created_at"`
}

func (s *stockTransactionSource) key() string { return s.ID }

func (s *stockTransactionSource) check(f *faults) {
	f.id("id", &s.ID)
	f.id("product_id", &s.ProductID)
	actions := make([]string, 0, 5)
	for _, action := range StockActions() {
		actions = append(actions, string(action))
	}
	f.oneOf("action", s.Action, actions...)
	f.between("quantity", s.Quantity, 0, MaxStock)
	f.between("allocated", s.Allocated, -MaxStock, MaxStock)
	f.text("reason", s.Reason, 255)
	f.text("reference", s.Reference, 255)
	f.text("actor", s.Actor, 255)
	if s.CreatedAt == "" {
		f.add("created_at", "is required")
	}
	f.time("created_at", &s.CreatedAt)
}
