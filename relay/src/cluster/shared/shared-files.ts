// Files of the state directory that all machines have: identity, certificates and what belongs to them, sealed in the engine.

import { join } from 'node:path'
import { SettingsError } from '../../config/settings-error.ts'
import type { Logger } from '../../log/log.ts'
import { readIfPresent, writePrivate, writePublic } from '../../storage/state-file.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { PUT_FILE } from '../engine/scripts.ts'
import { CHANGES_KEPT, SHARED_FILE_MAX_BYTES } from '../limits.ts'
import type { Seal } from './seal.ts'

const IDENTITY_FILE = 'identity.json'
/** Files that are no secret, and that others may read. */
const PUBLIC_FILES: readonly string[] = ['ca.pem']
/** In an order in which a key comes before its certificate, which begins to be used when it is there. */
const FILES: readonly string[] = [
  IDENTITY_FILE,
  'ca-key.pem',
  'ca.pem',
  'acme-account.key',
  'acme-registration.json',
  'acme-directory.json',
  'privatekey.pem',
  'fullchain.pem',
  'quic-privatekey.pem',
  'quic-fullchain.pem',
  'dnssec-csk.json',
]

interface SharedFilesParts {
  directory: string
  run: string
  engine: Engine
  keys: EngineKeys
  seal: Seal
  log: Logger
}

export class SharedFiles {
  readonly #parts: SharedFilesParts
  /** What the engine has of each file, sealed, as far as this machine knows. */
  readonly #known = new Map<string, string>()
  #onChange: ((name: string) => void) | undefined

  constructor(parts: SharedFilesParts) {
    this.#parts = parts
  }

  /** @param listener called with each file that another machine has changed, when it is written here */
  onChange(listener: (name: string) => void): void {
    this.#onChange = listener
  }

  /**
   * Takes the engine's files, before this machine reads its own.
   * @throws SettingsError when this machine has another identity, or another secret
   */
  async load(): Promise<void> {
    for (const name of FILES) await this.refresh(name)
  }

  /** Takes one file of the engine. @returns whether it has changed here @throws SettingsError as {@link load} does */
  async refresh(name: string): Promise<boolean> {
    const { engine, keys } = this.#parts
    const sealed = await engine.command('GET', keys.file(name))
    return typeof sealed === 'string' && (await this.#take(name, sealed))
  }

  /** Gives the engine the files that are here: after {@link load}, all that differ are newer. */
  async publish(names: readonly string[] = FILES): Promise<void> {
    const { engine, keys, seal, run, directory } = this.#parts
    for (const name of names) {
      const text = await readIfPresent(join(directory, name))
      const known = this.#known.get(name)
      if (text === undefined || (known !== undefined && seal.open(name, known) === text)) continue
      const sealed = seal.close(name, text)
      const args = [known ?? '', sealed, CHANGES_KEPT, run, name]
      const isPut = Number(await engine.run(PUT_FILE, [keys.file(name), keys.changes], args)) === 1
      if (isPut) this.#known.set(name, sealed)
      // Another machine was faster.
      else await this.refresh(name)
    }
  }

  /** The engine has lost everything. */
  forget(): void {
    this.#known.clear()
  }

  /** Follows a change that another machine made. Never rejects. */
  async follow(name: string, sealed: string): Promise<void> {
    if (!FILES.includes(name) || this.#known.get(name) === sealed) return
    try {
      if (await this.#take(name, sealed)) this.#onChange?.(name)
    } catch (error) {
      this.#parts.log.error(
        { file: name, reason: (error as Error).message },
        'a file that another machine has changed cannot be taken',
      )
    }
  }

  async #take(name: string, sealed: string): Promise<boolean> {
    const { directory } = this.#parts
    const text = this.#open(name, sealed)
    const path = join(directory, name)
    const here = await readIfPresent(path)
    if (name === IDENTITY_FILE && here !== undefined && !isSameJson(here, text))
      throw new SettingsError(
        path,
        'is another identity than that of the other machines: move it away, or set another CLUSTER_URL',
      )
    this.#known.set(name, sealed)
    if (here === text || (name === IDENTITY_FILE && here !== undefined)) return false
    await (PUBLIC_FILES.includes(name) ? writePublic : writePrivate)(path, text)
    return true
  }

  #open(name: string, sealed: string): string {
    if (sealed.length > SHARED_FILE_MAX_BYTES) throw new SettingsError('CLUSTER_URL', `${name} is too long`)
    try {
      return this.#parts.seal.open(name, sealed)
    } catch {
      throw new SettingsError('CLUSTER_SECRET', 'is another one than that of the other machines')
    }
  }
}

function isSameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}
