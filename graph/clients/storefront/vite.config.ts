import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv, type Connect } from 'vite'
import { checkout } from './server/checkout.ts'

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, import.meta.dirname, '')
  const till = checkout({ url: env.VITE_PORTICO_URL ?? '', clientId: env.CHECKOUT_CLIENT_ID ?? '', secret: env.CHECKOUT_CLIENT_SECRET ?? '' })
  const mount = ({ middlewares }: { middlewares: Connect.Server }) => { middlewares.use('/checkout', till) }
  return {
    plugins: [react(), { name: 'checkout', configureServer: mount, configurePreviewServer: mount }],
    server: { host: '127.0.0.1', port: 5173, fs: { allow: ['..'] } }, // cache.json stands beside this folder
    preview: { host: '127.0.0.1', port: 5173 }
  }
})
