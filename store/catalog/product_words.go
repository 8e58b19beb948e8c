package catalog

import "portico/store/index"

// Words are what a product can be found by, language by language.
func (p *ProductSource) Words() (list []index.LanguageWords) {
	a := &p.Attributes
	list = append(list, index.NewLanguageWords("", a.Description, a.Name, a.SKU))
	for _, language := range p.DocumentLanguages() {
		text := a.Locales[language]
		list = append(list, index.NewLanguageWords(language, text.Description, text.Name))
	}
	return list
}
