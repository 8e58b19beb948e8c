package release

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"portico/store"
	"portico/store/db"
)

// ShopperContext is what is known of a shopper: it decides the catalog, the
// language and the currency they see.
type ShopperContext struct {
	Channel     string
	Tags        []string
	AccountID   string
	AccountTags []string
	CustomerID  string
	Locale      string // an Accept-Language value, or one BCP 47 tag; empty or * is the base text
	Currency    string // ISO 4217; empty is the store's

	ReleaseID string // a release to see in place of the one that the rules choose; empty is none
}

// View is the catalog as one shopper sees it now. It is made once for an
// operation, and everything a shopper reads goes through it.
type View struct {
	Release  *Release
	Currency string
	Locale   language.Tag // in which amounts are written

	service    *ReleaseService
	Cache      *db.Cache
	memo       *treeMemo
	valid      *validity     // of what was read so far
	routing    *routingTable // which the release was chosen from
	shopper    ShopperContext
	languages  []string // what to look for in a product's languages, best first
	name       string   // of language and currency, for the cache
	now        time.Time
	pageLength int
	epoch      int64 // of the database that it is read from
}

// View chooses the catalog for a shopper. NOT_FOUND when none is published.
func (s *ReleaseService) View(ctx context.Context, shopper ShopperContext) (*View, error) {
	epoch := s.db.Epoch() // before anything is read
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	routing, err := s.routingNow(ctx)
	if err != nil {
		return nil, err
	}
	now := s.db.Now()
	release := routing.choose(shopper, now)
	if shopper.ReleaseID != "" {
		if release, err = s.ReleaseByID(ctx, shopper.ReleaseID); err != nil {
			return nil, err
		}
	}
	if release == nil {
		return nil, store.NotFoundf(nil, "No catalog is published yet; import one, or publish it with: portico publish.")
	}
	made := &struct { // at one go
		View
		treeMemo
		validity
	}{}
	v := &made.View
	*v = View{memo: &made.treeMemo, valid: &made.validity, Release: release, Currency: shopper.Currency, service: s, Cache: s.db.Cache, routing: routing, shopper: shopper, now: now, pageLength: settings.PageLength, epoch: epoch}
	if v.Currency == "" {
		v.Currency = routing.currency(release.CatalogID, settings)
	}
	spoken := s.spoken(release, shopper.Locale)
	v.languages, v.Locale = spoken.languages, spoken.locale
	v.name = spoken.name + v.Currency
	return v, nil
}

// ViewOf is a release by itself, as nobody sees it: without a language, a
// currency and settings.
func ViewOf(s *ReleaseService, release *Release) *View {
	return &View{Release: release, service: s, Cache: s.db.Cache, memo: &treeMemo{}, valid: &validity{}, now: s.db.Now()}
}

// Uncached is what a view reads of another release that rests on the same base;
// nothing of it is kept, for it is not finished.
func Uncached(v *View, release *Release) *View {
	own := *v
	own.Release, own.Cache = release, nil
	return &own
}

// acceptedLanguages is what an Accept-Language comes to in a release.
type acceptedLanguages struct {
	languages []string     // what to look for in a product's languages, best first
	locale    language.Tag // in which amounts are written
	name      string       // of both
}

func (t *acceptedLanguages) Size() int { return 128 + 2*len(t.name) + 16*len(t.languages) }

// maxAcceptLanguage bounds the Accept-Language that is remembered, in bytes.
const maxAcceptLanguage = 256

// spoken reads an Accept-Language, once: browsers send the same few.
func (s *ReleaseService) spoken(release *Release, accepted string) *acceptedLanguages {
	key := db.CacheKey{Release: release.identity(), Kind: cachedLanguages, Name: accepted}
	if kept, ok := db.Cached[*acceptedLanguages](s.db.Cache, key); ok {
		return kept
	}
	var preferred []language.Tag
	if accepted != "" {
		preferred = acceptLanguage(accepted)
	}
	t := &acceptedLanguages{languages: lookup(preferred, release), locale: writtenIn(preferred, release.Locale)}
	t.name = strings.Join(t.languages, ",") + ";" + t.locale.String() + ";"
	if len(accepted) <= maxAcceptLanguage {
		s.db.Cache.Set(key, t)
	}
	return t
}

// writtenIn is the locale that amounts are written in for who prefers some; base
// is that of who prefers none.
func writtenIn(preferred []language.Tag, base string) language.Tag {
	if len(preferred) > 0 && preferred[0] != language.Make("mul") { // * parses as mul
		return preferred[0]
	}
	return language.Make(base)
}

// Resolution explains how the view's catalog was chosen: by the same rules, at
// the same time.
func (v *View) Resolution() *CatalogResolution {
	x := v.routing.explain(v.shopper, v.now)
	if v.shopper.ReleaseID != "" {
		x.Reason, x.Release, x.Catalog, x.Rule, x.TieBreak = ResolvedByRequest, v.Release, v.routing.catalog(v.Release.CatalogID), nil, ""
	}
	return x
}

// CatalogResolution explains which catalog a shopper would see at a time; nil
// is now.
func (s *ReleaseService) CatalogResolution(ctx context.Context, shopper ShopperContext, at *time.Time) (*CatalogResolution, error) {
	routing, err := s.routingNow(ctx)
	if err != nil {
		return nil, err
	}
	now := s.db.Now()
	if at != nil {
		now = *at
	}
	return routing.explain(shopper, now), nil
}

// acceptLanguage reads an Accept-Language value, the preferred tag first; an
// entry that does not parse asks for nothing.
func acceptLanguage(value string) []language.Tag {
	var good []string
	for _, entry := range strings.Split(value, ",") {
		if _, _, err := language.ParseAcceptLanguage(entry); err == nil {
			good = append(good, entry)
		}
	}
	tags, _, err := language.ParseAcceptLanguage(strings.Join(good, ","))
	if err != nil {
		return nil
	}
	return tags
}

// lookup returns the languages of a release that a shopper takes, best first.
// For each preferred tag these are its fallbacks, then, if it names a region,
// those that write the same language in the same script elsewhere. The base
// text ends the list (DESIGN 8, Language and currency).
func lookup(preferred []language.Tag, release *Release) (languages []string) {
	add := func(have string) {
		if !slices.Contains(languages, have) {
			languages = append(languages, have)
		}
	}
	for _, tag := range preferred {
		for _, text := range fallbacks(tag) {
			if strings.EqualFold(text, release.Locale) || text == "mul" { // * parses as mul
				return languages
			}
			for _, have := range release.Locales {
				if strings.EqualFold(have, text) {
					add(have)
				}
			}
		}
		if _, _, region := tag.Raw(); region == (language.Region{}) {
			continue
		}
		for _, have := range release.Locales {
			if sameWriting(tag, language.Make(have)) {
				add(have)
			}
		}
		if sameWriting(tag, language.Make(release.Locale)) {
			return languages
		}
	}
	return languages
}

// fallbacks are the tags under which texts for a tag are looked up: the tag, its
// shorter forms that still name a region, its parents by CLDR (en-AU: en-001),
// the script that the region implies (zh-TW: zh-Hant), and then the other
// shorter forms of RFC 4647.
func fallbacks(tag language.Tag) (texts []string) {
	var without []string // a region
	_, _, region := tag.Raw()
	for text := tag.String(); text != ""; text = shorter(text) {
		if _, _, r := language.Make(text).Raw(); r == region {
			texts = append(texts, text)
		} else {
			without = append(without, text)
		}
	}
	for parent := tag.Parent(); parent != language.Und; parent = parent.Parent() {
		if text := parent.String(); !slices.Contains(without, text) {
			texts = append(texts, text)
		}
	}
	base, _ := tag.Base()
	if script, _ := tag.Script(); !sameWriting(tag, language.Make(base.String())) {
		texts = append(texts, base.String()+"-"+script.String())
	}
	return append(texts, without...)
}

// sameWriting reports whether two tags are of one language and script, whatever
// their regions. A tag without a script has the likely one by CLDR.
func sameWriting(a, b language.Tag) bool {
	language1, _ := a.Base()
	language2, _ := b.Base()
	script1, _ := a.Script()
	script2, _ := b.Script()
	return language1 == language2 && script1 == script2
}

// shorter takes the last subtag off, and a singleton before it.
func shorter(tag string) string {
	parts := strings.Split(tag, "-")
	parts = parts[:len(parts)-1]
	if n := len(parts); n > 1 && len(parts[n-1]) == 1 {
		parts = parts[:n-1]
	}
	return strings.Join(parts, "-")
}
