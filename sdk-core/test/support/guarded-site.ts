// A site on a real socket, whose handler decides about visitors, and requests with any fields.

import { request as httpRequest } from 'node:http'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import type { HttpOptions } from '../../src/exchange/http-options.ts'
import { listen } from './socket-stream.ts'

export type Answer = { status: number; headers: Headers; text: string }
export type Fields = Record<string, string | string[]>

export class GuardedSite {
  /** The origin as the site sees it. */
  readonly origin: string
  readonly port: number
  readonly errors: unknown[]
  readonly close: () => void

  constructor({ port, urlPort = port, errors, close }: Listening) {
    this.port = port
    this.origin = `https://127.0.0.1:${urlPort}`
    this.errors = errors
    this.close = close
  }

  /** Sends a request with exactly these fields. */
  ask(
    path: string,
    { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: Fields; body?: string } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fields = { Host: new URL(this.origin).host, ...headers }
      const to = { host: '127.0.0.1', port: this.port, agent: false }
      const sent = httpRequest({ ...to, path, method, headers: fields })
      sent.on('error', reject)
      sent.on('response', async (response) => {
        let text = ''
        try {
          for await (const chunk of response) text += chunk
          const fields = new Headers()
          for (let at = 0; at < response.rawHeaders.length; at += 2)
            fields.append(response.rawHeaders[at]!, response.rawHeaders[at + 1]!)
          resolve({ status: response.statusCode!, headers: fields, text })
        } catch (error) {
          reject(error)
        }
      })
      sent.end(body)
    })
  }
}

interface Listening {
  port: number
  urlPort?: number | undefined
  errors: unknown[]
  close: () => void
}

/** @param urlPort the port of the site's URL; without it, the one that it listens at */
export async function listenGuarded(fetch: FetchHandler, urlPort?: number): Promise<Listening> {
  const errors: unknown[] = []
  const site: HttpOptions = {
    fetch,
    isOwnHost: (host) => host === '127.0.0.1' || host === 'other.example',
    canonicalUrl: 'https://127.0.0.1/',
    onError: (error) => errors.push(error),
  }
  const { server, port } = await listen(site, undefined, urlPort)
  return { port, urlPort, errors, close: () => server.close() }
}
