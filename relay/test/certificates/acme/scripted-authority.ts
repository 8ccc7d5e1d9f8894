// An ACME directory over https whose answers a test writes: for what pebble never says.

import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'

export interface ScriptedAnswer {
  status: number
  body?: unknown
  headers?: Record<string, string>
  /** The answer waits for it. @default it does not wait */
  after?: Promise<unknown>
}

export interface ScriptedAuthority {
  url: string
  caFile: string
  /** Answers by path; `/dir` and `/nonce` are there already. */
  answers: Record<string, ScriptedAnswer | (() => ScriptedAnswer)>
  /** Paths that were asked for, in this order. */
  requests: string[]
  close(): Promise<void>
}

/** As pebble and Boulder answer a client that does not say what it is (RFC 8555 §6.1). */
const ANONYMOUS: ScriptedAnswer = {
  status: 400,
  body: {
    type: 'urn:ietf:params:acme:error:malformed',
    detail: 'client must set a User-Agent header',
  },
}

export async function startScriptedAuthority(): Promise<ScriptedAuthority> {
  const authority = createCa('localhost')
  const { chain: cert, key } = createLeaf(authority, 'localhost', ['localhost'])
  const answers: ScriptedAuthority['answers'] = {}
  const requests: string[] = []
  let nonces = 0
  const server = createServer({ cert, key }, async (request, response) => {
    request.resume()
    const path = request.url ?? ''
    requests.push(path)
    const answer =
      request.headers['user-agent'] === undefined ? ANONYMOUS : (answers[path] ?? { status: 404 })
    const { status, body, headers, after } = typeof answer === 'function' ? answer() : answer
    await after
    const type = status >= 400 ? 'application/problem+json' : 'application/json'
    response.writeHead(status, { 'Replay-Nonce': `nonce${nonces++}`, 'Content-Type': type, ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  answers['/dir'] = {
    status: 200,
    body: {
      newNonce: `${origin}/nonce`,
      newAccount: `${origin}/account`,
      newOrder: `${origin}/order`,
      renewalInfo: `${origin}/renewal`,
    },
  }
  answers['/nonce'] = { status: 200 }
  answers['/account'] = { status: 201, headers: { Location: `${origin}/account/1` } }
  const directory = await mkdtemp(join(tmpdir(), 'svc-scripted-'))
  const caFile = join(directory, 'ca.pem')
  await writeFile(caFile, authority.certificate)
  return {
    url: `${origin}/dir`,
    caFile,
    answers,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await rm(directory, { recursive: true })
    },
  }
}
