// What the GraphQL over HTTP specification asks of a server, by the audit that
// its reference implementation publishes. Each audit is a test, and passes only
// without an error, a warning and a notice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverAudits } from 'graphql-http'

const url = process.env.PORTICO_TEST_URL
if (!url) throw new Error('PORTICO_TEST_URL is not set; run these tests by: go test -run TestAuditOfGraphQLOverHTTP .')

const audits = serverAudits({ url: `${url}/graphql` })

test('all audits are there', () => assert.equal(audits.length, 61))

for (const audit of audits) {
  test(audit.name, async () => {
    const result = await audit.fn()
    assert.equal(result.status, 'ok', result.reason)
  })
}
