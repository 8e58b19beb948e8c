package catalog

import "portico/store"

// appendModifiers appends the object {"name":{"modifier_type":…,"currencies":{…}}}.
func appendModifiers(dst []byte, modifiers []*ModifierSource) []byte {
	dst = append(dst, '{')
	for _, m := range modifiers {
		dst = append(store.AppendKey(dst, m.Attributes.Name), '{')
		dst = store.AppendMember(dst, "modifier_type", string(m.Attributes.ModifierType))
		dst = append(append(store.AppendName(dst, "currencies"), store.Encode(m.Attributes.Currencies)...), '}')
	}
	return append(dst, '}')
}
