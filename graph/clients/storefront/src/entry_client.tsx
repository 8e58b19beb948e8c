import { startTransition, StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { rendered } from './client'
import { initial } from './config'
import { Frame } from './frame'
import { Shopping } from './shopper'

const { shopper, data } = initial!

// In a transition React stops every few milliseconds, so that the page reacts to input.
startTransition(() => {
  hydrateRoot(document.getElementById('root')!,
    <StrictMode><Shopping of={shopper} results={rendered(data)}><BrowserRouter><Frame /></BrowserRouter></Shopping></StrictMode>)
})
