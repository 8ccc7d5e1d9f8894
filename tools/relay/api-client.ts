// The relay's control plane as a client of it sees it, on kept connections.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import {
  PATH,
  type RegisterChallengeRequest,
  type RegisterChallengeResponse,
  type RegisterResponse,
} from '@svc/protocol'
import { identityFromKey } from '../../sdk-core/src/identity/key.ts'

const HEADERS = { 'Content-Type': 'application/json' }

export type Identity = ReturnType<typeof identityFromKey>

export interface Answer {
  status: number
  text: string
}

/** The fields of the lease. */
type Wanted = Pick<RegisterChallengeRequest, 'tcp_enabled' | 'metadata' | 'ttl' | 'cache'>

export function newIdentity(): Identity {
  return identityFromKey(new Uint8Array(randomBytes(32)))
}

export class RelayApi {
  readonly #url: URL
  readonly #ca: string
  readonly #agent: Agent

  /**
   * @param url of the relay; it is on this machine
   * @param localAddress where the connections come from; by default what the system chooses
   */
  constructor(url: string, ca: string, maxSockets: number, localAddress?: string) {
    this.#url = new URL(url)
    this.#ca = ca
    this.#agent = new Agent({ keepAlive: true, maxSockets, ...(localAddress && { localAddress }) })
  }

  async challenge(identity: Identity, name: string, wanted: Wanted = {}): Promise<RegisterChallengeResponse> {
    const body = { identity: { name, address: identity.address }, ttl: 600, ...wanted }
    return dataOf(await this.post(PATH.registerChallenge, body))
  }

  async register(identity: Identity, name: string, wanted: Wanted = {}): Promise<RegisterResponse> {
    const challenge = await this.challenge(identity, name, wanted)
    return dataOf(await this.post(PATH.register, proofOf(identity, challenge)))
  }

  async post(path: string, body: unknown): Promise<Answer> {
    return await this.send('POST', path, JSON.stringify(body), HEADERS)
  }

  async send(
    method: string,
    path: string,
    body: string | Buffer,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const { host, hostname, port } = this.#url
    const target = { host: '127.0.0.1', servername: hostname, port, ca: this.#ca, agent: this.#agent }
    const sent = request({ ...target, method, path, headers: { Host: host, ...headers } })
    sent.end(body)
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return { status: response.statusCode, text: Buffer.concat(chunks).toString() }
  }

  close(): void {
    this.#agent.destroy()
  }
}

export function proofOf(
  identity: Identity,
  { challenge_id, siwe_message }: RegisterChallengeResponse,
): object {
  return { challenge_id, siwe_message, siwe_signature: identity.personalSign(siwe_message) }
}

/** @throws Error with the whole answer when it is not a success */
export function dataOf<T>({ status, text }: Answer): T {
  if (status >= 300) throw new Error(`${status} ${text}`)
  return JSON.parse(text).data
}
