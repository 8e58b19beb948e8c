import { startTransition, StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { clientFor, rendered } from './client'
import { initial } from './config'
import { Frame } from './frame'
import { Shopping } from './shopper'

const { shopper, data } = initial!
const client = clientFor(shopper, rendered(data))

// In a transition the page stays responsive meanwhile.
startTransition(() => {
  hydrateRoot(document.getElementById('root')!,
    <StrictMode><Shopping of={shopper} client={client}><BrowserRouter><Frame /></BrowserRouter></Shopping></StrictMode>)
})
