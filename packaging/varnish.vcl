vcl 4.1;

# Varnish 7 in front of two servers, which need these flags:
#
#   --anonymous-client ID --cache-tags Surrogate-Key
#   --cache-control "public, s-maxage=86400, stale-while-revalidate=60"
#   --purge-url http://varnish.example/.purge --purge-secret-file FILE
#
# docs/cdn.md explains them.

import directors;
import std;

probe ready {
	.url = "/readyz";
	.interval = 1s;
	.initial = 5;
	.threshold = 2;
	.window = 5;
}

backend one {
	.host = "127.0.0.1";
	.port = "8081";
	.probe = ready;
}

backend two {
	.host = "127.0.0.1";
	.port = "8082";
	.probe = ready;
}

# The servers, which call the purge hook.
acl purgers {
	"127.0.0.1";
	"::1";
}

sub vcl_init {
	new servers = directors.round_robin();
	servers.add_backend(one);
	servers.add_backend(two);
}

sub vcl_recv {
	set req.backend_hint = servers.backend();

	if (req.url == "/.purge") {
		if (req.method != "POST" || client.ip !~ purgers) {
			return (synth(403, "Forbidden"));
		}
		if (req.http.Surrogate-Key !~ "^[A-Za-z0-9_-]+( [A-Za-z0-9_-]+)*$") {
			return (synth(400, "Bad Request"));
		}
		if (!std.ban("obj.http.Surrogate-Key ~ (^|\s)(" + regsuball(req.http.Surrogate-Key, " ", "|") + ")(\s|$)")) {
			return (synth(500, "Not purged"));
		}
		return (synth(200, "Purged"));
	}

	# Everything else is never stored: stock, carts, writes, previews, and shoppers with a token.
	if (req.url !~ "^/(catalog/|graphql\?)" || req.http.Prefer || req.http.Store-Catalog-Release) {
		return (pass);
	}
	unset req.http.Cookie; # the servers read none

	# Each value of a header that Vary names is stored apart. Keep the languages that the shop has.
	if (req.http.Accept-Language ~ "^de") {
		set req.http.Accept-Language = "de";
	} else {
		unset req.http.Accept-Language;
	}
	if (req.http.Accept ~ "application/graphql-response\+json") {
		set req.http.Accept = "application/graphql-response+json";
	} else {
		unset req.http.Accept;
	}
}

sub vcl_backend_response {
	if (beresp.http.Cache-Control !~ "stale-while-revalidate") {
		set beresp.grace = 0s;
	}
}

sub vcl_deliver {
	unset resp.http.Surrogate-Key;

	# Other caches on the way to the shopper get no purges, so they ask each time.
	if (resp.http.Cache-Control ~ "s-maxage") {
		set resp.http.Cache-Control = "public, no-cache";
	}
	if (obj.hits > 0) {
		set resp.http.X-Cache = "hit";
	} else {
		set resp.http.X-Cache = "miss";
	}
}
