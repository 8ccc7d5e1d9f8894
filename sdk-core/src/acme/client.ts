// Sends the requests of ACME by `fetch` (RFC 8555 §6): signed, with nonces, bounded in time and size, with bounded retries. It is our own,
// since the library for browsers (`@peculiar/acme-client`) bounds neither, knows no renewal information, and brings JSON schemas along.

import { oneLine } from '@svc/protocol/acme'
import { pause } from '@svc/protocol/timers'
import { readText } from '../bytes/bounded-text.ts'
import type { SiteKey } from '../certificate/site-key.ts'
import { parseJson } from '../control/relay-client.ts'
import { type Jwk, jwkOf, signJws } from './jws.ts'
import {
  ANSWER_MAX_BYTES,
  NONCE_ATTEMPTS_MAX,
  NONCES_MAX,
  REQUEST_DEADLINE_MS,
  REQUEST_RETRY_MS,
  RETRY_AFTER_MAX_MS,
} from './limits.ts'
import { AcmeProblem } from './problem.ts'

/** A Directory has the URLs of an authority (RFC 8555 §7.1.1). */
export interface Directory {
  newNonce: string
  newAccount: string
  newOrder: string
  /** Where to ask for renewal information (RFC 9773). Undefined at an authority without it. */
  renewalInfo: string | undefined
  /** The domains by which CAA records name the authority. */
  caaIdentities: readonly string[]
  /** The URL of its terms. */
  termsOfService: string | undefined
}

/** An AcmeAnswer is a successful answer. */
export interface AcmeAnswer {
  /** The parsed JSON; undefined for another type. */
  json: Record<string, unknown>
  text: string
  /** The URL of what was created. */
  location: string | undefined
  /** In milliseconds. Undefined also where the browser hides it: Let's Encrypt does not expose it to pages. */
  retryAfterMs: number | undefined
}

/** The part of the global `fetch` that the client uses. */
export type AcmeFetch = (url: string, init: RequestInit) => Promise<Response>

const JOSE = { 'Content-Type': 'application/jose+json' }
const SERVER_ERROR = 500
const BAD_NONCE = 'badNonce'

export class AcmeClient {
  /** The URL of the account, once there is one. */
  account: string | undefined
  readonly jwk: Jwk
  readonly #url: string
  readonly #key: SiteKey
  readonly #fetch: AcmeFetch
  #directory: Promise<Directory> | undefined
  #nonces: string[] = []

  /** @param url of the directory */
  constructor(url: string, key: SiteKey, send: AcmeFetch = (...args) => fetch(...args)) {
    this.#url = url
    this.#key = key
    this.#fetch = send
    this.jwk = jwkOf(key)
  }

  /** @throws AcmeProblem, or an Error that says what is wrong with the answer */
  directory(signal: AbortSignal): Promise<Directory> {
    this.#directory ??= this.#loadDirectory(signal).catch((error) => {
      this.#directory = undefined
      throw error
    })
    return this.#directory
  }

  /** Gets a resource that needs no signature. */
  async get(url: string, signal: AbortSignal): Promise<AcmeAnswer> {
    return answerOf(await this.#send(url, { method: 'GET' }, signal))
  }

  /**
   * Sends a signed request. With undefined as the payload it is a POST-as-GET.
   * @throws AcmeProblem, or an Error when the authority cannot be reached
   */
  async post(url: string, payload: object | undefined, signal: AbortSignal): Promise<AcmeAnswer> {
    requireHttps(url, 'the address of a request')
    for (let attempts = 1; ; attempts++) {
      const header = { alg: 'ES256', nonce: await this.#nonce(signal), url, ...this.#identified() }
      const body = JSON.stringify(await signJws(this.#key, header, payload))
      const received = await this.#send(url, { method: 'POST', headers: JOSE, body }, signal)
      try {
        return answerOf(received)
      } catch (error) {
        // The refusal has the next nonce (§6.5).
        const isBadNonce = error instanceof AcmeProblem && error.type === BAD_NONCE
        if (!isBadNonce || attempts === NONCE_ATTEMPTS_MAX) throw error
      }
    }
  }

  /** A new account is identified by its key, all else by the account (§6.2). */
  #identified(): { kid: string } | { jwk: Jwk } {
    return this.account === undefined ? { jwk: this.jwk } : { kid: this.account }
  }

  async #loadDirectory(signal: AbortSignal): Promise<Directory> {
    const { json } = await this.get(this.#url, signal)
    const { meta } = json
    const { caaIdentities, termsOfService } = Object(meta)
    return {
      newNonce: urlIn(json, 'newNonce'),
      newAccount: urlIn(json, 'newAccount'),
      newOrder: urlIn(json, 'newOrder'),
      renewalInfo: json.renewalInfo === undefined ? undefined : urlIn(json, 'renewalInfo'),
      caaIdentities: Array.isArray(caaIdentities)
        ? caaIdentities.filter((one) => typeof one === 'string')
        : [],
      termsOfService: typeof termsOfService === 'string' ? oneLine(termsOfService) : undefined,
    }
  }

  async #nonce(signal: AbortSignal): Promise<string> {
    for (let attempts = 0; attempts < 2; attempts++) {
      const kept = this.#nonces.pop()
      if (kept !== undefined) return kept
      const { newNonce } = await this.directory(signal)
      await this.#send(newNonce, { method: 'HEAD' }, signal)
    }
    throw new Error(
      'the authority gives no nonce: its answers to pages must expose Replay-Nonce (Access-Control-Expose-Headers)',
    )
  }

  /** Sends a request, and again when the authority does not answer or fails. */
  async #send(url: string, init: RequestInit, signal: AbortSignal): Promise<Received> {
    for (const pauseMs of REQUEST_RETRY_MS) {
      const received = await this.#once(url, init, signal).catch(() => undefined)
      if (received && received.status < SERVER_ERROR) return received
      await pause(Math.max(pauseMs, Math.min(received?.retryAfterMs ?? 0, REQUEST_DEADLINE_MS)), signal)
      signal.throwIfAborted()
      // Each signature is for one nonce: a request that was lost may have used it.
      if (init.method === 'POST' && received === undefined) break
    }
    return this.#once(url, init, signal)
  }

  async #once(url: string, init: RequestInit, signal: AbortSignal): Promise<Received> {
    const deadline = AbortSignal.timeout(REQUEST_DEADLINE_MS)
    try {
      const response = await this.#fetch(url, {
        ...init,
        signal: AbortSignal.any([signal, deadline]),
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
      })
      const { status, headers } = response
      const nonce = headers.get('Replay-Nonce')
      if (nonce !== null && this.#nonces.length < NONCES_MAX) this.#nonces.push(nonce)
      const retryAfterMs = retryAfterOf(headers.get('Retry-After'))
      const text = await readText(response.body, ANSWER_MAX_BYTES)
      if (text === undefined)
        throw new Error(`the authority's answer is longer than ${ANSWER_MAX_BYTES} bytes, or no text`)
      return { status, text, location: headers.get('Location'), retryAfterMs }
    } catch (cause) {
      signal.throwIfAborted()
      throw new Error(`${new URL(url).host} does not answer, or not to pages (CORS)`, { cause })
    }
  }
}

interface Received {
  status: number
  text: string
  location: string | null
  retryAfterMs: number | undefined
}

/** @throws AcmeProblem */
function answerOf({ status, text, location, retryAfterMs }: Received): AcmeAnswer {
  const json = Object(parseJson(text))
  if (status < 200 || status >= 300) throw new AcmeProblem(json, status, retryAfterMs)
  return { json, text, location: location ?? undefined, retryAfterMs }
}

/** Reads Retry-After in either form: the dates of an authority are near enough to the clock here. */
function retryAfterOf(value: string | null): number | undefined {
  const date = value === null ? Number.NaN : Date.parse(value)
  const ms = value !== null && /^\d{1,9}$/.test(value) ? Number(value) * 1000 : date - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), RETRY_AFTER_MAX_MS)
}

/** Returns a URL of the authority's answer. Signed requests go nowhere but to https. */
export function urlIn(json: Record<string, unknown>, name: string): string {
  return requireHttps(json[name], name)
}

function requireHttps(value: unknown, name: string): string {
  if (typeof value !== 'string' || URL.parse(value)?.protocol !== 'https:')
    throw new Error(`the authority's answer has no https URL as ${name}`)
  return value
}
