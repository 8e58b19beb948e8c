package cli

import "portico/internal/httpcache"

// CDNFlags are the flags for HTTP caches in front of the server.
type CDNFlags struct {
	CacheControl    string `group:"cdn" placeholder:"VALUE" help:"Cache-Control of catalog responses that are the same for everyone, for example public, s-maxage=86400, stale-while-revalidate=60. Without it, caches ask the server each time: public, no-cache."`
	CacheTags       string `group:"cdn" hidden:"" enum:"off,Surrogate-Key,Cache-Tag" placeholder:"HEADER" default:"off" help:"Header that names what a catalog response was made from, so that a CDN can purge it: Surrogate-Key (separated by spaces), Cache-Tag (by commas) or off."`
	AnonymousClient string `group:"cdn" placeholder:"ID" help:"API client as which requests without a token read catalogs: GET of REST and queries of GraphQL, never stock or writes. Its scopes must be catalog:read, with or without inventory:read. Without it, such requests get 401."`
}

func (f *CDNFlags) check() error {
	if _, err := httpcache.ParseCacheControl(f.CacheControl); err != nil {
		return usagef("--cache-control: %s", err)
	}
	return nil
}

// Control returns the parsed --cache-control.
func (f *CDNFlags) Control() httpcache.CacheControl {
	control, _ := httpcache.ParseCacheControl(f.CacheControl) // check parsed it
	return control
}

// TagHeader returns the header of tags; empty for none.
func (f *CDNFlags) TagHeader() string {
	if f.CacheTags == "off" {
		return ""
	}
	return f.CacheTags
}
