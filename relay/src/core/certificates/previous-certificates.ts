// Keeps the previous certificates on disk while sites may present them, so that a restart does not forget them.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fromWallTime, now, toWallTime } from '../clock.ts'
import type { CoreSettings } from '../config/settings.ts'
import type { Logger } from '../log/log.ts'
import { readPrivateIfPresent, writePrivate } from '../storage/state-file.ts'
import { type Certificates, certificatesOf } from './certificate-files.ts'
import { PREVIOUS_CERTIFICATES_MS, type Replaced } from './certificate-rotation.ts'

export const PREVIOUS_CERTIFICATE_FILE = 'previous-certificate.json'

interface Content {
  chain: string
  key: string
  /** RFC 3339. From this time the relay does not sign with the key and deletes the file. */
  until: string
}

export class PreviousCertificates {
  readonly #path: string
  readonly #rootHost: string
  readonly #log: Logger
  #deletion: NodeJS.Timeout | undefined

  constructor({ identityPath, rootHost }: CoreSettings, log: Logger) {
    this.#path = join(identityPath, PREVIOUS_CERTIFICATE_FILE)
    this.#rootHost = rootHost
    this.#log = log
  }

  /**
   * Loads the file at a start, and deletes one that is expired or invalid: sites then fetch the current chain.
   * @param current the certificates in use
   */
  async load({ authority }: Certificates): Promise<Replaced | undefined> {
    const text = await readPrivateIfPresent(this.#path)
    if (text === undefined) return undefined
    try {
      const replaced = parse(text, this.#rootHost)
      this.#deleteAt(replaced.until)
      const { certificates, until } = replaced
      return { certificates: authority === undefined ? certificates : { ...certificates, authority }, until }
    } catch (error) {
      this.#log.info({ path: this.#path, reason: (error as Error).message }, 'previous certificate deleted')
      await rm(this.#path, { force: true })
      return undefined
    }
  }

  /** Writes the file. Never rejects: without it a restart only costs some visitors a handshake. */
  async keep({ certificates: { chainPem, key }, until }: Replaced): Promise<void> {
    const content: Content = {
      chain: chainPem,
      key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
      until: new Date(toWallTime(until)).toISOString(),
    }
    try {
      await writePrivate(this.#path, `${JSON.stringify(content)}\n`)
      this.#deleteAt(until)
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the relay cannot write the previous certificate: a restart would forget it',
      )
    }
  }

  close(): void {
    clearTimeout(this.#deletion)
  }

  #deleteAt(until: number): void {
    clearTimeout(this.#deletion)
    this.#deletion = setTimeout(
      () => {
        rm(this.#path, { force: true }).catch((error) =>
          this.#log.warn(
            { err: error, path: this.#path },
            'the relay cannot delete the previous certificate',
          ),
        )
      },
      Math.max(0, until - now()),
    ).unref()
  }
}

/** @throws Error that says what is wrong, without the file's content */
function parse(text: string, rootHost: string): Replaced {
  const { chain, key, until: time } = parseJson(text)
  if (typeof chain !== 'string' || typeof key !== 'string') throw new Error('chain or key is missing')
  // A clock that was set back must not keep it longer.
  const until = Math.min(fromWallTime(Date.parse(String(time))), now() + PREVIOUS_CERTIFICATES_MS)
  if (!(until > now())) throw new Error('it has expired')
  return { certificates: certificatesOf(rootHost, chain, key), until }
}

function parseJson(text: string): Partial<Record<keyof Content, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new Error('it is not JSON')
  }
}
