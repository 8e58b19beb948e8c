package audience

// Len returns the number of cached views.
func (s *Schemas) Len() int { return len(s.views) }
