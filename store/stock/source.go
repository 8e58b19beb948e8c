package stock

import (
	"portico/store/authoring"
)

// Source is a stock record in an import file. Its id is the product's.
type Source struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Available int    `json:"available"`
	Allocated int    `json:"allocated"`
	Total     int    `json:"total"`
	CreatedAt string `json:"created_at,omitempty"`
	UpdatedAt string `json:"updated_at,omitempty"`
}

// Key is the product's id.
func (s *Source) Key() string { return s.ID }

// Check reports every error, and makes ids and times canonical.
func (s *Source) Check(f *authoring.Validator) {
	f.ID("id", &s.ID)
	f.Between("available", s.Available, 0, MaxStock)
	f.Between("allocated", s.Allocated, 0, MaxStock)
	if total := s.Available + s.Allocated; s.Total == 0 && total > 0 {
		f.Rule("total", "is required: available plus allocated, %d", total)
	} else if s.Total != total || total > MaxStock {
		f.Add("total", "must be available plus allocated, %d, and at most %d, got %d", total, MaxStock, s.Total)
	}
	f.Time("created_at", &s.CreatedAt)
	f.Time("updated_at", &s.UpdatedAt)
}

// Keys records the product.
func (s *Source) Keys(k authoring.KeyRecorder) { k.Use(authoring.KeyProduct, s.ID, "id", 0) }

// TransactionSource is a ledger entry in an import file. Entries of a product must be
// in the order in which they were made.
type TransactionSource struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ProductID string `json:"product_id"`
	Action    string `json:"action"`
	Quantity  int    `json:"quantity"`
	Allocated int    `json:"allocated,omitempty"` // units that the first entry of an imported ledger allocates
	Reason    string `json:"reason,omitempty"`
	Reference string `json:"reference,omitempty"`
	Actor     string `json:"actor,omitempty"`
	CreatedAt string `json:"created_at"`
}

// Key is the entry's id.
func (s *TransactionSource) Key() string { return s.ID }

// Check reports every error, and makes ids and times canonical.
func (s *TransactionSource) Check(f *authoring.Validator) {
	f.ID("id", &s.ID)
	f.ID("product_id", &s.ProductID)
	actions := make([]string, 0, 5)
	for _, action := range Actions() {
		actions = append(actions, string(action))
	}
	f.OneOf("action", s.Action, actions...)
	f.Between("quantity", s.Quantity, 0, MaxStock)
	f.Between("allocated", s.Allocated, -MaxStock, MaxStock)
	f.Text("reason", s.Reason, 255)
	f.Text("reference", s.Reference, 255)
	f.Text("actor", s.Actor, 255)
	if s.CreatedAt == "" {
		f.Rule("created_at", "is required")
	}
	f.Time("created_at", &s.CreatedAt)
}

// Keys records the product.
func (s *TransactionSource) Keys(k authoring.KeyRecorder) {
	k.Use(authoring.KeyProduct, s.ProductID, "product_id", 0)
}
