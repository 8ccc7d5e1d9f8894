// Serves a checkout of the tests on localhost, and a page for each of its scripts, over the globals of choice.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.html': 'text/html' }
/** The metadata in a test's own text: `// META: script=../resources/utils.js`. */
const META = /^\/\/ META: (\w+)=(.*)$/gm
const GLOBALS = '/svc-globals.js'

export interface TestServer {
  /** @returns the page of a test below the checkout */
  urlOf(file: string, globals: 'native' | 'ours'): string
  close(): void
}

/** @param globals a classic script that installs them */
export async function serveTests(directory: string, globals: string): Promise<TestServer> {
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === GLOBALS) return answer(response, globals, 'text/javascript')
    const file = path.join(directory, path.normalize(decodeURIComponent(pathname)))
    const page = file.replace(/\.html$/, '.js')
    try {
      if (search !== '')
        answer(response, pageOf(page, readFileSync(page, 'utf8'), search === '?ours'), 'text/html')
      else answer(response, readFileSync(file), TYPES[path.extname(file)] ?? 'application/octet-stream')
    } catch {
      response.writeHead(404).end()
    }
  })
  await listening(server)
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (file, globals) => `http://localhost:${port}/${file.replace(/\.js$/, '.html')}?${globals}`,
    close: () => server.close(),
  }
}

function pageOf(file: string, code: string, ours: boolean): string {
  const scripts = [...code.matchAll(META)]
    .filter(([, key]) => key === 'script')
    .map(([, , value = '']) => value)
  const tag = (source: string): string => `<script src="${source}"></script>`
  return `<!doctype html><meta charset="utf-8"><title>${path.basename(file)}</title>
${ours ? tag(GLOBALS) : ''}
${tag('/resources/testharness.js')}
<script>add_completion_callback((tests) => { window.results = tests.map(({ name, status, message }) => ({ name, status, message })) })</script>
${[...scripts, path.basename(file)].map(tag).join('\n')}`
}

function answer(response: ServerResponse, body: string | Uint8Array, type: string): void {
  response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }).end(body)
}

async function listening(server: Server): Promise<void> {
  server.listen(0, 'localhost')
  await once(server, 'listening')
}
