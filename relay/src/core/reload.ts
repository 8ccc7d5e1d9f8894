// Reloads certificates and policy that change on disk. A file with an error changes nothing.

import { type FSWatcher, watch } from 'node:fs'
import { readCertificates } from './certificates/certificate-files.ts'
import type { CertificateRotation } from './certificates/certificate-rotation.ts'
import type { PreviousCertificates } from './certificates/previous-certificates.ts'
import type { CoreSettings } from './config/settings.ts'
import type { Logger } from './log/log.ts'
import type { AuditLog } from './policy/audit-log.ts'
import type { Policy } from './policy/policy.ts'
import { differenceOf } from './policy/policy-difference.ts'
import { warnOfUnknownFields } from './storage/stored-state.ts'

/** Time without changes after which the relay reads changed files again: a chain and its key are two files. */
export const RELOAD_DELAY_MS = 300
const FILES: readonly string[] = ['fullchain.pem', 'privatekey.pem', 'policy.json']

/** Files of a feature that may change while the relay runs. */
export interface ReloadedFiles {
  /** What the log calls them. */
  what: string
  /** Their names in the state directory. */
  files: readonly string[]
  /** @returns whether they changed. Rejects when they cannot be used; the previous ones stay then. */
  reload(): Promise<boolean>
}

interface ReloaderParts {
  settings: CoreSettings
  certificates: CertificateRotation
  /** Whether ACME manages the certificates: then their files are the relay's own, and are not read again. */
  isManaged: boolean
  previousCertificates: PreviousCertificates
  /** Those of the features that run. */
  others: readonly ReloadedFiles[]
  policy: Policy
  audit: AuditLog
  log: Logger
}

export class Reloader {
  readonly #parts: ReloaderParts
  readonly #watcher: FSWatcher
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(parts: ReloaderParts) {
    this.#parts = parts
    const { settings, others, log } = parts
    const watched = new Set([...FILES, ...others.flatMap(({ files }) => files)])
    // This watches the directory: a watch of a file would end when the file is replaced by another of the same name.
    this.#watcher = watch(settings.identityPath, { persistent: false }, (_event, file) => {
      if (file === null || watched.has(file)) this.#soon()
    })
    this.#watcher.on('error', (error) =>
      log.warn({ err: error }, 'the relay cannot watch its files; SIGHUP still reloads them'),
    )
  }

  /** Resolves when all files were read. Never rejects. */
  reload(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#running.then(async () => {
      if (!this.#parts.isManaged) await this.#take('certificates', () => this.#takeCertificates())
      for (const other of this.#parts.others) await this.#take(other.what, () => other.reload())
      await this.#take('policy', () => this.#takePolicy())
    })
    return this.#running
  }

  /**
   * Reads files that have already changed: after a restart the relay must know which certificates were in use before.
   */
  async close(): Promise<void> {
    this.#watcher.close()
    if (this.#timer !== undefined) void this.reload()
    await this.#running
    this.#parts.previousCertificates.close()
  }

  /** Waits a moment, since a certificate and its key are two files. */
  #soon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.reload(), RELOAD_DELAY_MS).unref()
  }

  async #take(what: string, take: () => Promise<boolean>): Promise<void> {
    try {
      if (await take()) this.#parts.log.info(`${what} reloaded`)
    } catch (error) {
      const { message } = error as Error
      this.#parts.log.warn(
        { reason: message },
        `the relay cannot use the ${what} on disk and keeps the previous one`,
      )
    }
  }

  async #takeCertificates(): Promise<boolean> {
    const { settings, certificates, previousCertificates } = this.#parts
    const { authority } = certificates.current
    const next = await readCertificates(settings)
    const replaced = certificates.replace(authority === undefined ? next : { ...next, authority })
    if (replaced !== undefined) await previousCertificates.keep(replaced)
    return replaced !== undefined
  }

  async #takePolicy(): Promise<boolean> {
    const { policy, audit, log } = this.#parts
    const before = policy.file
    const isOther = await policy.reload()
    if (isOther) warnOfUnknownFields(policy.file, log)
    if (isOther) await audit.record(undefined, { kind: 'file', made: differenceOf(before, policy.file) })
    return isOther
  }
}
