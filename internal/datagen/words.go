package datagen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// texts returns the name and description of the product i in a language: en, fr or de. For each language, r
// must be in the same state. The noun depends on the leaf. A child, which follows its parent and its earlier
// siblings, has the words of its parent, and a size.
func (g *generator) texts(r *rand.Rand, b blueprint, i int, tag string) (name, description string) {
	leaf, size := g.leaf(i), ""
	if b.parent >= 0 {
		r, leaf, size = g.random(randomText, b.parent), g.leaf(b.parent), " "+vocabulary("sizes")[i-b.parent-1]
	}
	if b.bundle {
		size = " Set"
	}
	nouns, adjectives, materials := vocabulary("nouns."+tag), vocabulary("adjectives."+tag), vocabulary("materials."+tag)
	noun := nouns[leaf%len(nouns)]
	adjective, material := adjectives[r.IntN(len(adjectives))], materials[r.IntN(len(materials))]
	other := adjectives[r.IntN(len(adjectives))]
	model := 100 + 50*r.IntN(18)
	switch tag {
	case "fr":
		return fmt.Sprintf("%s %s en %s %d%s", noun, adjective, material, model, size),
			fmt.Sprintf("%s en %s, %s et %s. Fabriqué pour durer, livré avec sa notice.", noun, material, adjective, other)
	case "de":
		return fmt.Sprintf("%s %s aus %s %d%s", noun, adjective, material, model, size),
			fmt.Sprintf("%s aus %s, %s und %s. Für ein langes Leben gebaut, mit Anleitung.", noun, material, adjective, other)
	}
	return fmt.Sprintf("%s %s %s %d%s", adjective, material, noun, model, size),
		fmt.Sprintf("A %s made of %s: %s, %s, and built to last. It comes with instructions and a warranty of two years. Model %d.",
			strings.ToLower(noun), strings.ToLower(material), strings.ToLower(adjective), strings.ToLower(other), model)
}

// vocabulary returns a list of words. Lists of one kind have the same order in all languages.
func vocabulary(kind string) []string {
	return strings.Split(map[string]string{
		"tags": "new,sale,bestseller,eco,outdoor,indoor,gift,kids,premium,basic,handmade,vintage,limited,local,vegan,waterproof,foldable,light,heavy,spare," +
			"summer,winter,spring,autumn,travel,office,kitchen,garden,bath,garage,red,blue,green,yellow,black,white,grey,pink,brown,violet",
		"sizes":         "S,M,L",
		"nouns.en":      "Chair,Table,Lamp,Kettle,Backpack,Tent,Saddle,Helmet,Jacket,Glove,Hammer,Drill,Shelf,Mirror,Clock,Bottle,Blanket,Basket,Stool,Rug",
		"nouns.fr":      "Chaise,Table,Lampe,Bouilloire,Sac à dos,Tente,Selle,Casque,Veste,Gant,Marteau,Perceuse,Étagère,Miroir,Horloge,Bouteille,Couverture,Panier,Tabouret,Tapis",
		"nouns.de":      "Stuhl,Tisch,Lampe,Kessel,Rucksack,Zelt,Sattel,Helm,Jacke,Handschuh,Hammer,Bohrer,Regal,Spiegel,Uhr,Flasche,Decke,Korb,Hocker,Teppich",
		"adjectives.en": "Sturdy,Quiet,Elegant,Compact,Rustic,Modern,Gentle,Rugged,Classic,Bright",
		"adjectives.fr": "robuste,silencieux,élégant,compact,rustique,moderne,doux,solide,classique,clair",
		"adjectives.de": "robust,leise,elegant,kompakt,rustikal,modern,sanft,stabil,klassisch,hell",
		"materials.en":  "Oak,Steel,Wool,Leather,Bamboo,Glass,Cotton,Aluminium,Cork,Linen",
		"materials.fr":  "chêne,acier,laine,cuir,bambou,verre,coton,aluminium,liège,lin",
		"materials.de":  "Eiche,Stahl,Wolle,Leder,Bambus,Glas,Baumwolle,Aluminium,Kork,Leinen",
	}[kind], ",")
}
