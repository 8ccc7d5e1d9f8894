// The static cache of a relay for one site, as docs/protocol.md §15 has it: it stores what is uploaded, and checks all of it.

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RelayDouble } from './relay-double.ts'

interface Manifest {
  index: string
  files: { path: string; size: number; sha256: string }[]
}
type Parts = [name: string, value: FormDataEntryValue][]

export class CacheDouble {
  static readonly LIMITS = { max_exposure_bytes: 1000, max_object_size: 100 }
  /** The requests, as `POST`, `PUT` or `DELETE`. */
  readonly calls: string[] = []
  /** The manifests of all requests. */
  readonly manifests: Manifest[] = []
  readonly tokens: (string | undefined)[] = []
  /** The stored files by path. */
  stored: Map<string, string> | undefined
  /** Replaces the answer to a request, with its method. Returns undefined for the usual one. */
  refuse: (method: string) => [status: number, body: string, headers?: Record<string, string>] | undefined =
    () => undefined
  /** Called before an upload is read. */
  beforeUpload: (request: IncomingMessage) => Promise<void> = async () => {}
  expiresAt = '2030-01-02T03:04:05Z'
  #text = ''

  /** Gives `relay` a static cache. */
  constructor(relay: RelayDouble) {
    relay.overrides['/sdk/domain'] = () => [
      200,
      { ok: true, data: { protocol_version: '10', cache: CacheDouble.LIMITS } },
    ]
    relay.raw['/sdk/cache'] = (request, response) => this.#serve(request, response)
  }

  count(method: string): number {
    return this.calls.filter((call) => call === method).length
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method!
    this.calls.push(method)
    this.tokens.push(request.headers['x-svc-access-token'] as string)
    const refusal = this.refuse(method)
    if (refusal) {
      request.resume()
      response.writeHead(refusal[0], refusal[2]).end(refusal[1])
      return
    }
    try {
      if (method === 'POST') this.#announce(await textOf(request))
      else if (method === 'PUT') await this.#store(request)
      else this.stored = undefined
    } catch (error) {
      const body = { ok: false, error: { code: 'invalid_request', message: (error as Error).message } }
      response.writeHead(400).end(JSON.stringify(body))
      return
    }
    const data = this.stored ? { present: true, expires_at: this.expiresAt } : { present: false }
    response.end(JSON.stringify({ ok: true, data }))
  }

  #announce(text: string): void {
    this.manifests.push(JSON.parse(text))
    if (text !== this.#text) this.stored = undefined
  }

  async #store(request: IncomingMessage): Promise<void> {
    await this.beforeUpload(request)
    const bytes = Buffer.concat(await request.toArray())
    const headers = { 'Content-Type': request.headers['content-type']! }
    const parts: Parts = [...(await new Response(bytes, { headers }).formData())]
    const [manifest, ...objects] = parts
    if (manifest?.[0] !== 'manifest') throw new Error('the first part is no manifest')
    const text = String(manifest[1])
    const { files } = JSON.parse(text) as Manifest
    if (objects.length !== files.length || objects.some(([name]) => name !== 'object'))
      throw new Error('there is not one object for each file')
    const stored = new Map<string, string>()
    for (const [number, { path, size, sha256 }] of files.entries()) {
      const content = Buffer.from(await (objects[number]![1] as File).arrayBuffer())
      const hash = createHash('sha256').update(content).digest('hex')
      if (content.length !== size || hash !== sha256) throw new Error(`${path} has another size or hash`)
      stored.set(path, String(content))
    }
    this.stored = stored
    this.#text = text
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  return String(Buffer.concat(await request.toArray()))
}
