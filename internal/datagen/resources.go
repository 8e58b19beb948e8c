package datagen

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
)

// The resources below are the subset of the import format that generated shops use.

type file struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	FileName string `json:"file_name"`
	MimeType string `json:"mime_type"`
	Public   bool   `json:"public"`
	Link     struct {
		Href string `json:"href"`
	} `json:"link"`
	Meta struct {
		Timestamps struct {
			CreatedAt string `json:"created_at"`
		} `json:"timestamps"`
		Dimensions struct {
			Width  int `json:"width"`
			Height int `json:"height"`
		} `json:"dimensions"`
	} `json:"meta"`
}

type product struct {
	Type          string               `json:"type"`
	ID            string               `json:"id"`
	Attributes    productAttributes    `json:"attributes"`
	Relationships productRelationships `json:"relationships"`
}

type productAttributes struct {
	Name                string                    `json:"name"`
	SKU                 string                    `json:"sku"`
	Slug                string                    `json:"slug"`
	Status              string                    `json:"status"`
	CommodityType       string                    `json:"commodity_type"`
	Description         string                    `json:"description"`
	ManufacturerPartNum string                    `json:"manufacturer_part_num"`
	UPCEAN              string                    `json:"upc_ean"`
	Tags                []string                  `json:"tags"`
	ProductTypes        []string                  `json:"product_types"`
	BaseProduct         bool                      `json:"base_product"`
	BaseProductID       string                    `json:"base_product_id,omitempty"`
	CreatedAt           string                    `json:"created_at"`
	UpdatedAt           string                    `json:"updated_at"`
	Locales             map[string]textAttributes `json:"locales,omitempty"`
	Variations          []variation               `json:"variations,omitempty"`
	Options             []string                  `json:"options,omitempty"`
	Components          map[string]component      `json:"components,omitempty"`
}

type textAttributes struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type variation struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	SortOrder int      `json:"sort_order"`
	Options   []option `json:"options"`
}

type option struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	SortOrder   int    `json:"sort_order"`
}

type component struct {
	Name      string            `json:"name"`
	Min       int               `json:"min"`
	Max       int               `json:"max"`
	SortOrder int               `json:"sort_order"`
	Options   []componentOption `json:"options"`
}

type componentOption struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Quantity int    `json:"quantity"`
}

type productRelationships struct {
	Parent            *link      `json:"parent,omitempty"`
	MainImage         *link      `json:"main_image"`
	Files             *fileLinks `json:"files"`
	ComponentProducts *links     `json:"component_products,omitempty"`
}

type fileLinks struct {
	Data []fileLink `json:"data"`
}

type fileLink struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CreatedAt string `json:"created_at"`
}

// ref identifies a resource.
type ref struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type link struct {
	Data ref `json:"data"`
}

type links struct {
	Data []ref `json:"data"`
}

type hierarchyResource struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Attributes nodeAttributes `json:"attributes"`
}

type node struct {
	Type          string            `json:"type"`
	ID            string            `json:"id"`
	Attributes    nodeAttributes    `json:"attributes"`
	Relationships nodeRelationships `json:"relationships"`
}

type nodeAttributes struct {
	Name            string   `json:"name"`
	Slug            string   `json:"slug"`
	Description     string   `json:"description"`
	CuratedProducts []string `json:"curated_products,omitempty"`
	CreatedAt       string   `json:"created_at"`
}

type nodeRelationships struct {
	Hierarchy *link  `json:"hierarchy"`
	Parent    *link  `json:"parent,omitempty"`
	Products  *links `json:"products"`
}

type pricebook struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name string `json:"name"`
	} `json:"attributes"`
}

type productPrice struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		SKU        string            `json:"sku"`
		Currencies map[string]amount `json:"currencies"`
	} `json:"attributes"`
	Relationships struct {
		Pricebook *link `json:"pricebook"`
	} `json:"relationships"`
}

// amount is in minor units.
type amount struct {
	Amount      int64 `json:"amount"`
	IncludesTax bool  `json:"includes_tax"`
}

type catalogResource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name         string          `json:"name"`
		Hierarchies  []string        `json:"hierarchies"`
		PricebookIDs []pricebookRank `json:"pricebook_ids"`
		CreatedAt    string          `json:"created_at"`
	} `json:"attributes"`
}

type pricebookRank struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
}

type catalogRule struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name      string `json:"name"`
		CatalogID string `json:"catalog_id"`
		CreatedAt string `json:"created_at"`
	} `json:"attributes"`
}

type stock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Available int    `json:"available"`
	Allocated int    `json:"allocated"`
	Total     int    `json:"total"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// newEncoder returns an encoder that writes one line per resource.
func newEncoder(to io.Writer) *json.Encoder {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	return lines
}

// encode returns the line of a resource without the newline.
func encode(resource any) []byte {
	var b bytes.Buffer
	_ = newEncoder(&b).Encode(resource) // the types above always encode
	return bytes.TrimRight(b.Bytes(), "\n")
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
