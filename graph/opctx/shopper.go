package opctx

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
	"portico/store/release"
)

// Middleware begins the operation of each request from its headers and token. It must run behind the
// middleware that reads the token.
func Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, req := reqctx.Begin(r)
		op := &Operation{}
		op.Shopper, op.shopperErr = ShopperOf(r)
		op.request.read(r, w.Header())
		op.Idempotency, req.Operation = &op.request, op
		next.ServeHTTP(w, r)
	})
}

// read reads the key of a request. response is the header of its response.
func (i *Idempotency) read(r *http.Request, response http.Header) {
	values := r.Header[idempotencyHeader]
	i.key, i.given, i.response = r.Header.Get(idempotencyHeader), len(values) > 0, response
}

// Vary lists the headers that decide what a shopper sees.
const Vary = "Accept-Language, Authorization, EP-Channel, EP-Context-Tag, Prefer, " + releaseHeader + ", Store-Channel, Store-Context-Tag, X-Moltin-Currency, X-Moltin-Language"

// TextHeaders lists the headers whose values are looked up in the database or stored in it.
func TextHeaders() []string { return append(strings.Split(Vary, ", "), idempotencyHeader) }

// maxContextTags is how many tags of a request are used. Further tags are ignored.
const maxContextTags = 100

// Shopper returns the shopper of a context's operation; the zero value outside of one.
func Shopper(ctx context.Context) release.ShopperContext {
	if op := From(ctx); op != nil {
		return op.Shopper
	}
	return release.ShopperContext{}
}

// CheckShopper returns the error of ShopperOf for the request that a context belongs to. Both APIs check it before they
// run anything.
func CheckShopper(ctx context.Context) error {
	if op := From(ctx); op != nil {
		return op.shopperErr
	}
	return nil
}

// maxLanguageBytes limits Accept-Language and X-Moltin-Language.
const maxLanguageBytes = 1024

// ShopperOf reads the shopper from a request's headers and token. EP-Channel and EP-Context-Tag are
// aliases of Store-Channel and Store-Context-Tag. It returns UNPROCESSABLE for languages above maxLanguageBytes and for a
// currency that is not three letters.
func ShopperOf(r *http.Request) (release.ShopperContext, error) {
	shopper := release.ShopperContext{
		Channel:  header(r, "Store-Channel", "Ep-Channel"),
		Currency: strings.ToUpper(header(r, "X-Moltin-Currency")),
		Tags:     contextTags(r),

		ReleaseID: store.LocalID(header(r, releaseHeader)),
	}
	if p := auth.PrincipalFrom(r.Context()); p != nil {
		shopper.AccountID, shopper.AccountTags, shopper.CustomerID = p.AccountID, p.AccountTags, p.CustomerID
	}
	for _, name := range []string{"Accept-Language", "X-Moltin-Language"} {
		if n := len(header(r, name)); n > maxLanguageBytes {
			return shopper, store.Unprocessablef(nil, "The header %s must be at most %d bytes, got %d. Send the few languages that the shopper prefers.", name, maxLanguageBytes, n)
		}
	}
	shopper.Languages = acceptLanguage(header(r, "X-Moltin-Language", "Accept-Language")) // browsers always send the second
	if code := shopper.Currency; code != "" && !store.IsCurrencyCode(code) {
		return shopper, store.Unprocessablef(nil, "The header X-Moltin-Currency must be a code of three letters such as EUR, got %q.", store.Abbreviate(code))
	}
	return shopper, nil
}

// contextTags returns the distinct tags of all headers of both names, at most maxContextTags. A header may hold several
// tags, separated by commas.
func contextTags(r *http.Request) (tags []string) {
	for _, value := range slices.Concat(r.Header["Store-Context-Tag"], r.Header["Ep-Context-Tag"]) {
		for tag := range strings.SplitSeq(value, ",") {
			if tag = strings.TrimSpace(tag); tag != "" && len(tags) < maxContextTags && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	return tags
}

// header returns the first value that is not empty of several headers. Names are in canonical form.
func header(r *http.Request, names ...string) string {
	for _, name := range names {
		if values := r.Header[name]; len(values) > 0 {
			if value := strings.TrimSpace(values[0]); value != "" {
				return value
			}
		}
	}
	return ""
}

// maxLanguages is how many languages of an Accept-Language value count. Further ones are ignored.
const maxLanguages = 32

// acceptLanguage parses an Accept-Language value, or one BCP 47 tag, and returns the preferred tag first. The wildcard * becomes the tag
// mul. It skips entries that do not parse, and stops after maxLanguages others.
func acceptLanguage(value string) []language.Tag {
	if value == "" { // saves an allocation in each request without languages
		return nil
	}
	if strings.Count(value, ",") < maxLanguages { // else only the first of them count
		if tags, _, err := language.ParseAcceptLanguage(value); err == nil {
			return tags
		}
	}
	var good []string
	for entry := range strings.SplitSeq(value, ",") {
		if len(good) == maxLanguages {
			break
		}
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
