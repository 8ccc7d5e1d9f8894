// Serves a folder to a browser, and notes which scripts it asked for.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
}

export interface PageServer {
  url: string
  /** The bytes of gzip of each script that was asked for, by its path. */
  scripts: ReadonlyMap<string, number>
  close(): void
}

/** At `http://localhost`, which is a secure context without any certificate. */
export async function servePage(directory: string, page: string): Promise<PageServer> {
  const scripts = new Map<string, number>()
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const extension = path.extname(pathname)
    try {
      const content = readFileSync(path.join(directory, path.posix.normalize(pathname)))
      if (TYPES[extension] === 'text/javascript')
        scripts.set(pathname, gzipSync(content, { level: 9 }).length)
      response.setHeader('Content-Type', TYPES[extension] ?? 'application/octet-stream').end(content)
    } catch {
      response.writeHead(404).end()
    }
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}${page}`,
    scripts,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
