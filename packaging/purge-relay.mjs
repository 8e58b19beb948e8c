// Relays the purge hook of Portico (--purge-url) to the API of a CDN. It runs as a Cloudflare Worker, and
// wherever a module with a fetch handler runs. docs/cdn.md explains it. Its variables, all secret:
//
//   PURGE_SECRET                    as --purge-secret; during a change NEW,CURRENT
//   CLOUDFLARE_ZONE, CLOUDFLARE_TOKEN    a zone, and an API token that may purge its cache
//   FASTLY_SERVICE, FASTLY_TOKEN         or a service, and an API token with purge_select

const maxAge = 300; // seconds that a signature is valid
const maxBody = 64 * 1024;

const bytes = (base64) => Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

// isSigned verifies a call by the Standard Webhooks.
async function isSigned(headers, body, secrets) {
	const id = headers.get('webhook-id'), timestamp = headers.get('webhook-timestamp');
	if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= maxAge)) return false;
	const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
	for (const secret of secrets.split(',')) {
		const key = await crypto.subtle.importKey('raw', bytes(secret.trim()), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
		for (const signature of (headers.get('webhook-signature') ?? '').split(' ')) {
			const [version, value] = signature.split(',');
			if (version !== 'v1' || !/^[A-Za-z0-9+/]{43}=$/.test(value)) continue;
			if (await crypto.subtle.verify('HMAC', key, bytes(value), signed)) return true;
		}
	}
	return false;
}

// purge asks the CDN to purge tags.
function purge(env, tags) {
	if (env.CLOUDFLARE_ZONE) {
		return fetch(`https://api.cloudflare.com/client/v4/zones/${env.CLOUDFLARE_ZONE}/purge_cache`, {
			method: 'POST',
			headers: { Authorization: `Bearer ${env.CLOUDFLARE_TOKEN}`, 'Content-Type': 'application/json' },
			body: JSON.stringify({ tags }),
		});
	}
	return fetch(`https://api.fastly.com/service/${env.FASTLY_SERVICE}/purge`, {
		method: 'POST',
		headers: { 'Fastly-Key': env.FASTLY_TOKEN, 'Surrogate-Key': tags.join(' ') },
	});
}

export default {
	async fetch(request, env) {
		if (request.method !== 'POST') return new Response('Method Not Allowed', { status: 405 });
		const body = await request.text();
		if (body.length > maxBody || !(await isSigned(request.headers, body, env.PURGE_SECRET))) {
			return new Response('Unauthorized', { status: 401 });
		}
		const answer = await purge(env, JSON.parse(body).tags);
		// Portico repeats a call that did not succeed, and logs what this returns.
		return new Response((await answer.text()).slice(0, 200), { status: answer.ok ? 200 : 502 });
	},
};
