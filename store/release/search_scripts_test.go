package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/storetest"
)

// scripts are names and descriptions of furniture in languages with and without spaces.
var scripts = []struct{ id, name, description string }{
	{"th-chair", "เก้าอี้ไม้สัก", "เฟอร์นิเจอร์สำหรับห้องนั่งเล่น ทำจากไม้สักแท้"},
	{"th-table", "โต๊ะกาแฟไม้ไผ่", "น้ำหนักเบา สีน้ำตาล"},
	{"lo-chair", "ຕັ່ງໄມ້ສັກ", "ເຟີນີເຈີສຳລັບຫ້ອງຮັບແຂກ"},
	{"km-chair", "កៅអីឈើប្រណីត", "សម្រាប់\u200bបន្ទប់\u200bទទួល\u200bភ្ញៀវ"},
	{"my-chair", "သစ်သားကုလားထိုင်", "ဧည့်ခန်းအတွက် ပရိဘောဂ"},
	{"zh-set", "实木餐桌椅组合", "适合小户型客厅，耐用"},
	{"zh-chair", "木製椅子", "堅固耐用"},
	{"ja-chair", "折りたたみ式木製チェア", "リビングやキャンプに最適"},
	{"ko-desk", "원목 책상", "서재를 위한 가구"},
	{"hi-chair", "लकड़ी की कुर्सी", "बैठक के लिए"},
	{"ar-chair", "كُرْسِيّ خشبي", "مصنوع من خـــشب البلوط"},
	{"vi-chair", "Ghế gỗ sồi", "dùng cho phòng khách, đẹp"},
}

// scriptShop returns a shop of scripts.
func scriptShop() string {
	var lines, refs []string
	for _, p := range scripts {
		lines = append(lines, fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%q,"sku":%q,"slug":%q,"status":"live","description":%q,"created_at":"2024-01-01T00:00:00Z"},"relationships":{}}`,
			p.id, p.name, p.id, p.id, p.description))
		refs = append(refs, fmt.Sprintf(`{"type":"product","id":%q}`, p.id))
	}
	return storetest.JoinLines(append(lines, `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}`,
		`{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+strings.Join(refs, ",")+`]}}}`)...)
}

func searchScripts(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, scriptShop())
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		found := func(t *testing.T, typed string) []string {
			search, err := index.NewSearch(typed)
			require.NoError(t, err)
			require.False(t, search.Empty())
			return storetest.ProductIDs(t, v, release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortID}})
		}
		for _, c := range []struct{ typed, want string }{
			{"เก้าอี้ไม้สัก", "th-chair"},        // as written
			{"เก้าอี้สัก", "th-chair"},           // parts: chair, teak
			{"สักเก้าอี้", "th-chair"},           // in another order
			{"เก้าอี้ห้องนั่งเล่น", "th-chair"},  // of name and description
			{"เก้าอี้ ห้องนั่งเล่น", "th-chair"}, // with a space
			{"โต๊ะไม้ไผ่", "th-table"},           // a word of one syllable
			{"โต๊ะไม้", "th-table"},              //
			{"โต๊ะสัก", ""},                      // of two products
			{"เก้าอี้โลหะ", ""},                  // a part that does not exist
			{"ไม้", "th-chair th-table"},         //
			{"ไม", "th-chair th-table"},          // a prefix
			{"เก้", "th-chair"},                  //
			{"เก้าอี้ไ", "th-chair"},             //
			{"กาแฟโต", "th-table"},               //
			{"น้ำตาล", "th-table"},               // sara am is decomposed
			{"ตาลน้ำ", "th-table"},               //
			{"ຕັ່ງສັກ", "lo-chair"},              //
			{"ຕັ່ງຫ້ອງຮັບແຂກ", "lo-chair"},       //
			{"ໄມ້", "lo-chair"},                  //
			{"កៅអីប្រណីត", "km-chair"},           //
			{"បន្ទប់ទទួលភ្ញៀវ", "km-chair"},      // with zero-width spaces
			{"ភ្ញៀវកៅអី", "km-chair"},            //
			{"ប្រណ", "km-chair"},                 //
			{"ကုလားထိုင်", "my-chair"},           //
			{"ကုလားထိုင", "my-chair"},            // before the last mark
			{"ကုလားထိုင်သစ်သား", "my-chair"},     //
			{"ကုလားထိုင်ပရိဘောဂ", "my-chair"},    //
			{"实木椅", "zh-set"},                    // a single character
			{"实木桌椅", "zh-set"},                   //
			{"餐桌实木", "zh-set"},                   //
			{"客厅餐桌", "zh-set"},                   //
			{"餐桌椅耐用", "zh-set"},                  //
			{"木椅子", "zh-chair"},                  //
			{"耐用", "zh-chair zh-set"},            //
			{"子椅", ""},                           // not adjacent in the text
			{"折りたたみ椅", ""},                       //
			{"木製チェア", "ja-chair"},                //
			{"チェア折りたたみ", "ja-chair"},             //
			{"ﾁｪｱ", "ja-chair"},                  // half-width
			{"キャンプ木製", "ja-chair"},               //
			{"木製", "ja-chair zh-chair"},          //
			{"책상 가구", "ko-desk"},                 //
			{"कुर्सी", "hi-chair"},               // a virama does not end a word
			{"कुर्सी लकड़ी", "hi-chair"},         //
			{"कुर", "hi-chair"},                  //
			{"र्सी", ""},                         //
			{"लकड़ी", "hi-chair"},                // both spellings of the nukta
			{"كرسي خشب", "ar-chair"},             //
			{"كرسي البلوط", "ar-chair"},          //
			{"ghe go", "vi-chair"},               //
			{"GHẾ SỒI", "vi-chair"},              //
			{"dep phong khach", "vi-chair"},      //
		} {
			t.Run(c.typed, func(t *testing.T) { require.Equal(t, strings.Fields(c.want), found(t, c.typed)) })
		}
		// Whoever types a name sees its product all the while.
		for _, p := range scripts {
			typed := ""
			for _, r := range p.name {
				typed += string(r)
				if strings.TrimSpace(typed) != "" {
					require.Contains(t, found(t, typed), p.id, "%q as a prefix of %q", typed, p.name)
				}
			}
		}
	}
}
