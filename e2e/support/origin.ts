// Another origin than the relay's, for one test: an HTTP server that has one page, which the test writes.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Origin {
  /** `http://localhost`, so that it is a secure context without any certificate. */
  url: string
  close(): Promise<void>
}

/** @param headers of the page, beside its type */
export async function serveHtml(body: string, headers: Record<string, string> = {}): Promise<Origin> {
  const html = `<!doctype html><meta charset="utf-8"><title>embedded</title><body>${body}</body>`
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers }).end(html)
  })
  await once(server.listen(0, 'localhost'), 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
