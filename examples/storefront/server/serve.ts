// The production server: `npm run build`, then `npm run serve`.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants } from 'node:zlib'
import * as entry from '../src/entry_server'
import { pages } from './pages'

const folder = join(import.meta.dirname, '../client')
const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' }

// Assets have a hash in their names. They are compressed once.
const assets = new Map(readdirSync(join(folder, 'assets')).map(name => {
  const plain = readFileSync(join(folder, 'assets', name))
  return [`/assets/${name}`, { type: types[extname(name)] ?? 'application/octet-stream', plain, compressed: brotliCompressSync(plain) }]
}))

// The stylesheet is small. Within the page, nothing waits for it.
const template = readFileSync(join(folder, 'index.html'), 'utf8')
  .replace(/<link rel="stylesheet"[^>]*href="([^"]+)"[^>]*>/, (_, path) => `<style>${assets.get(path)!.plain}</style>`)

const page = pages(async () => ({ entry, template }))
const compress = promisify(brotliCompress)
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

async function answer(request: IncomingMessage, response: ServerResponse) {
  const brotli = /\bbr\b/.test(String(request.headers['accept-encoding']))
  const encoding = brotli ? { 'Content-Encoding': 'br' } : {}
  const asset = assets.get(request.url ?? '')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end()
  } else if (asset) {
    const headers = { 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' }
    response.writeHead(200, { ...headers, ...encoding }).end(brotli ? asset.compressed : asset.plain)
  } else {
    const { status, headers, body } = await page(request)
    response.writeHead(status, { ...headers, ...encoding }).end(brotli ? await compress(body, quickly) : body)
  }
}

const { HOST: host = '127.0.0.1', PORT: port = '5173' } = process.env
const server = createServer((request, response) => {
  answer(request, response).catch(error => { console.error(error); response.destroy() })
})
server.listen(Number(port), host, () => {
  const address = server.address()
  console.log(`  Local: http://${host}:${typeof address === 'object' && address ? address.port : port}/`)
})
