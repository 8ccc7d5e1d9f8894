// Asks the relay that the settings describe, on this machine, as an administrator.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
// biome-ignore lint/plugin: No other server is asked, only the relay itself, at the loopback address.
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { LOOPBACK } from '../core/config/setting-values.ts'
import { type CoreSettings, SettingsError } from '../core/config/settings.ts'
import { parseEnvelope, readBoundedText } from '../core/http/envelope-answer.ts'
import { readIfPresent } from '../core/storage/state-file.ts'

/** Time for one answer, in milliseconds. */
const DEADLINE_MS = 10_000
/** UTF-16 code units of one answer: the longest lists have some hundred kilobytes. */
const RESPONSE_MAX_CHARS: number = 4 * 1024 * 1024
/** Certificates of the state directory that the relay may show: that of its own authority, and what ACME got. */
const OWN_CERTIFICATES = ['ca.pem', 'fullchain.pem']

/** The relay did not do what it was asked; the message is for the operator. */
export class AdminClientError extends Error {
  override readonly name = 'AdminClientError'
}

export class AdminClient {
  readonly #settings: CoreSettings
  readonly #token: string

  /** @throws SettingsError without an admin token */
  constructor(settings: CoreSettings) {
    if (settings.adminToken === undefined)
      throw new SettingsError('ADMIN_TOKEN', 'must be the token of the relay or of an administrator')
    this.#settings = settings
    this.#token = settings.adminToken
  }

  /**
   * Asks by `GET`, or by `POST` with a body.
   * @throws AdminClientError when the relay refuses, or none answers
   */
  async call<Data>(path: string, body?: unknown): Promise<Data> {
    const { rootHost, sniPort } = this.#settings
    const { status, text } = await this.#ask(path, body).catch((error: Error) => {
      const where = `port ${sniPort} of this machine`
      throw new AdminClientError(`No relay for ${rootHost} answers at ${where}: ${error.message.trim()}`)
    })
    const { ok, data, error } = parseEnvelope(text)
    if (ok !== true) throw new AdminClientError(error?.message ?? `The answer has the status ${status}.`)
    return data as Data
  }

  async #ask(path: string, body: unknown): Promise<{ status: number; text: string }> {
    const { host, rootHost, sniPort, listenAddress = LOOPBACK } = this.#settings
    const options: RequestOptions = {
      method: body === undefined ? 'GET' : 'POST',
      host: listenAddress,
      port: sniPort,
      servername: rootHost,
      path,
      headers: { Host: host, Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
      agent: false,
      signal: AbortSignal.timeout(DEADLINE_MS),
      // The token goes to the relay alone. Its state directory has the certificate, if no public authority knows it.
      ca: [...rootCertificates, ...(await this.#ownCertificates())],
      allowPartialTrustChain: true,
    }
    const sent = request(options).end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, text: await readBoundedText(response, RESPONSE_MAX_CHARS) }
  }

  async #ownCertificates(): Promise<string[]> {
    const { identityPath } = this.#settings
    const found = await Promise.all(OWN_CERTIFICATES.map((name) => readIfPresent(join(identityPath, name))))
    return found.filter((pem) => pem !== undefined)
  }
}
