import { StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { rendered } from './client'
import { initial } from './config'
import { Frame } from './frame'
import { Shopping } from './shopper'

const { shopper, data } = initial!

// Not in a transition: ssrExchange gives each result once, and an interrupted render starts again.
hydrateRoot(document.getElementById('root')!,
  <StrictMode><Shopping of={shopper} results={rendered(data)}><BrowserRouter><Frame /></BrowserRouter></Shopping></StrictMode>)
