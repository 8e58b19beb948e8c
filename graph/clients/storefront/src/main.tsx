import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { Frame } from './frame'
import { Shopping } from './shopper'
import './style.css'

createRoot(document.getElementById('root')!).render(
  <StrictMode><Shopping><BrowserRouter><Frame /></BrowserRouter></Shopping></StrictMode>
)
