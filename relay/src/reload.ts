// Certificates and policy that change on disk are taken up by the running relay; what is wrong with them changes nothing.

import { type FSWatcher, watch } from 'node:fs'
import type { CertificateRotation } from './certificates/rotation.ts'
import { readCertificates } from './certificates/store.ts'
import { RELOAD_DELAY_MS } from './limits.ts'
import type { Logger } from './log.ts'
import type { Policy } from './policy/policy.ts'
import type { Settings } from './settings.ts'

const FILES = ['fullchain.pem', 'privatekey.pem', 'policy.json']

export class Reloader {
  readonly #settings: Settings
  readonly #certificates: CertificateRotation
  readonly #policy: Policy
  readonly #log: Logger
  readonly #watcher: FSWatcher
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(settings: Settings, certificates: CertificateRotation, policy: Policy, log: Logger) {
    this.#settings = settings
    this.#certificates = certificates
    this.#policy = policy
    this.#log = log
    // The directory, because a file that is replaced is another file under its old name.
    this.#watcher = watch(settings.identityPath, { persistent: false }, (_event, file) => {
      if (file === null || FILES.includes(file)) this.#soon()
    })
    this.#watcher.on('error', (error) =>
      log.warn({ err: error }, 'changes of files go unnoticed; SIGHUP still works'),
    )
  }

  /** Resolves when everything was looked at; never rejects. */
  reload(): Promise<void> {
    this.#running = this.#running.then(async () => {
      await this.#take('certificates', () => this.#takeCertificates())
      await this.#take('policy', () => this.#policy.reload())
    })
    return this.#running
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#watcher.close()
  }

  /** Two files make one pair: the second may be a moment later. */
  #soon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.reload(), RELOAD_DELAY_MS).unref()
  }

  async #take(what: string, take: () => Promise<boolean>): Promise<void> {
    try {
      if (await take()) this.#log.info(`${what} reloaded`)
    } catch (error) {
      const { message } = error as Error
      this.#log.warn({ reason: message }, `${what} on disk cannot be used; those of before stay in force`)
    }
  }

  async #takeCertificates(): Promise<boolean> {
    const { authority } = this.#certificates.current
    const next = await readCertificates(this.#settings)
    return this.#certificates.replace(authority === undefined ? next : { ...next, authority })
  }
}
