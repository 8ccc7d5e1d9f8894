// A local HTTP server that answers as a provider's API: each provider has a dialect of it. Tests inject faults.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ZoneApiName } from '../../../src/providers/open-zone.ts'
import { FakeZone } from './fake-zone.ts'

export interface FakeRequest {
  method: string
  /** Below the dialect's prefix, decoded. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
  url: URL
}

export interface Reply {
  status: number
  body: string
  headers?: Record<string, string>
}

export interface Dialect {
  provider: ZoneApiName
  /** Of paths. */
  prefix: string
  /**
   * Variables with valid credentials.
   * @param baseUrl of the server, for those that name one
   * @param newFolder makes one for files with credentials, which goes with the server
   */
  env(baseUrl: string, newFolder: () => string): Record<string, string>
  /** Parts of the credentials that nobody may see. */
  secrets: readonly string[]
  nameServers: readonly string[]
  isAuthorized(request: FakeRequest): boolean
  isChange(request: FakeRequest): boolean
  /** @returns undefined for what the API does not know */
  answer(request: FakeRequest, api: FakeApi): Reply | undefined
  refusal(kind: 'unauthorized' | 'forbidden' | 'rate_limited' | 'error' | 'unknown'): Reply
  /** Requests without credentials, such as for a token. */
  open?(request: FakeRequest): Reply | undefined
}

export interface Fault {
  /** `lost`: the server makes the change and ends the connection. `silent`: no answer. `none`: `meanwhile` alone. A Reply is the answer. */
  kind: 'lost' | 'silent' | 'rate_limited' | 'error' | 'none' | Reply
  headers?: Record<string, string>
  /** Which requests have it. @default every one */
  at?: 'change' | 'read'
  /** Called with the request. */
  meanwhile?: () => void
  /** How often. @default 1 */
  times?: number
}

export class FakeApi {
  readonly dialect: Dialect
  readonly zone = new FakeZone('example.com')
  readonly requests: FakeRequest[] = []
  readonly faults: Fault[] = []
  access: 'whole' | 'read' | 'none' = 'whole'
  /** Entries of one page. */
  pageSize = 100
  readonly #server: Server
  readonly #folders: string[] = []

  private constructor(dialect: Dialect) {
    this.dialect = dialect
    this.#server = createServer((request, response) => {
      void this.#handle(request.method ?? '', request.url ?? '', request.headers, text(request)).then(
        (reply) => {
          if (reply === 'silent') return
          if (reply === 'lost') return request.socket.destroy()
          response
            .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
            .end(reply.body)
        },
      )
    })
  }

  static async start(dialect: Dialect): Promise<FakeApi> {
    const api = new FakeApi(dialect)
    api.#server.listen(0, '127.0.0.1')
    await once(api.#server, 'listening')
    return api
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get baseUrl(): string {
    return this.origin + this.dialect.prefix
  }

  get env(): Record<string, string> {
    return this.dialect.env(this.origin, () => {
      const folder = mkdtempSync(join(tmpdir(), 'dns-credentials-'))
      this.#folders.push(folder)
      return folder
    })
  }

  get changes(): FakeRequest[] {
    return this.requests.filter((request) => this.dialect.isChange(request))
  }

  /** Entries of the page that a request asks for, and whether others follow. */
  page<T>(entries: readonly T[], number: number): { entries: T[]; pages: number } {
    const from = (number - 1) * this.pageSize
    return {
      entries: entries.slice(from, from + this.pageSize),
      pages: Math.max(1, Math.ceil(entries.length / this.pageSize)),
    }
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true })
  }

  async #handle(
    method: string,
    target: string,
    headers: IncomingHttpHeaders,
    content: Promise<string>,
  ): Promise<Reply | 'silent' | 'lost'> {
    const { dialect } = this
    const url = new URL(target, this.origin)
    const path = decodeURIComponent(url.pathname.slice(dialect.prefix.length))
    const request = { method, path, query: url.searchParams, headers, body: await content, url }
    const open = dialect.open?.(request)
    if (open) return open
    this.requests.push(request)
    const isChange = dialect.isChange(request)
    const fault = this.#takeFault(isChange)
    fault?.meanwhile?.()
    if (fault?.kind === 'silent') return 'silent'
    if (typeof fault?.kind === 'object') return fault.kind
    if (fault?.kind === 'error' || fault?.kind === 'rate_limited') {
      const reply = dialect.refusal(fault.kind)
      return { ...reply, headers: { ...reply.headers, ...fault.headers } }
    }
    if (this.access === 'none' || !dialect.isAuthorized(request)) return dialect.refusal('unauthorized')
    if (isChange && this.access === 'read') return dialect.refusal('forbidden')
    const before = [...this.zone.records]
    const reply = dialect.answer(request, this) ?? dialect.refusal('unknown')
    if (isChange && reply.status < 300) await this.zone.onChange?.(before)
    return fault?.kind === 'lost' ? 'lost' : reply
  }

  #takeFault(isChange: boolean): Fault | undefined {
    const index = this.faults.findIndex(({ at }) => at === undefined || (at === 'change') === isChange)
    const fault = this.faults[index]
    if (fault === undefined) return undefined
    fault.times = (fault.times ?? 1) - 1
    if (fault.times === 0) this.faults.splice(index, 1)
    return fault
  }
}

export function json(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}
