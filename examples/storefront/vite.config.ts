import react from '@vitejs/plugin-react'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, loadEnv, type ViteDevServer } from 'vite'
import { pages } from './server/pages.ts'

const folder = import.meta.dirname

// In development Vite renders the pages, so that changes of the code show at once.
const rendering = {
  name: 'rendering',
  configureServer: (vite: ViteDevServer) => () => {
    const page = pages(async path => ({
      template: await vite.transformIndexHtml(path, readFileSync(join(folder, 'index.html'), 'utf8')),
      entry: await vite.ssrLoadModule('/src/entry_server.tsx') as typeof import('./src/entry_server.tsx')
    }))
    vite.middlewares.use(async (request, response) => {
      request.url = request.originalUrl ?? '/'
      const { status, headers, body } = await page(request)
      response.writeHead(status, headers).end(body)
    })
  }
}

export default defineConfig(({ mode, isSsrBuild }) => {
  Object.assign(process.env, loadEnv(mode, folder, 'STOREFRONT_'))
  return {
    appType: 'custom',
    plugins: [react(), rendering],
    build: { outDir: isSsrBuild ? 'dist/server' : 'dist/client' },
    server: { host: '127.0.0.1', port: 5173, fs: { allow: ['..'] } } // cache.json is beside this folder
  }
})
