// What the Go test that starts these tests says about the server.
'use strict'

const { execFileSync } = require('node:child_process')

const get = name => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; run these tests by: go test ./internal/e2e -run TestPublishedRESTClients`)
  return value
}

const url = new URL(get('PORTICO_TEST_URL'))

module.exports = {
  url: url.origin,
  host: url.host,
  protocol: url.protocol.replace(':', ''),

  // A server of the same shop that answers one token request a minute.
  limitedHost: new URL(get('PORTICO_TEST_LIMITED_URL')).host,
  limitedURL: get('PORTICO_TEST_LIMITED_URL'),

  client_id: get('PORTICO_TEST_CLIENT_ID'),
  client_secret: get('PORTICO_TEST_CLIENT_SECRET'),

  // endTokens ends every token there is, and returns once the server knows.
  async endTokens(token) {
    execFileSync(get('PORTICO_TEST_COMMAND'), ['keys', 'rotate', '--end-tokens'], { env: ofProgram(), stdio: ['ignore', 'ignore', 'inherit'] })
    for (;;) {
      const answer = await fetch(`${url.origin}/v2/settings`, { headers: { Authorization: `Bearer ${token}` } })
      await answer.text()
      if (answer.status === 401) return
    }
  }
}

// ofProgram is the environment without the variables of tests, which the program
// does not know.
function ofProgram() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PORTICO_') || ['PORTICO_SEAL_KEY', 'PORTICO_DATABASE_URL'].includes(name)))
}
