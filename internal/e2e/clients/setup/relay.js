import relay from 'relay-runtime'

export const environment = (url, token) => new relay.Environment({
  network: relay.Network.create(async ({ text }, variables) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    return (await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: text, variables }) })).json()
  }),
  store: new relay.Store(new relay.RecordSource())
})
