// Files of the state directory that all machines have: identity, certificates and what belongs to them, sealed in the engine.

import { join } from 'node:path'
import { finishManagedPair } from '../../certificates/managed-files.ts'
import { SettingsError } from '../../config/settings-error.ts'
import type { Logger } from '../../log/log.ts'
import { readIfPresent, writePrivate, writePublic } from '../../storage/state-file.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { PUT_FILES } from '../engine/scripts.ts'
import { CHANGES_KEPT, SHARED_FILE_MAX_BYTES } from '../limits.ts'
import { isNewerPair, isPair } from './pem-pair.ts'
import type { Seal } from './seal.ts'

const IDENTITY_FILE = 'identity.json'
/** Files that are no secret, and that others may read. */
const PUBLIC_FILES: readonly string[] = ['ca.pem']
/** Files that change together. A key comes before its certificate, which begins to be used when it is there. */
const GROUPS: readonly (readonly string[])[] = [
  [IDENTITY_FILE],
  ['ca-key.pem', 'ca.pem'],
  ['acme-account.key'],
  ['acme-registration.json'],
  ['acme-budget.json'],
  ['privatekey.pem', 'acme-directory.json', 'fullchain.pem'],
  ['quic-privatekey.pem', 'quic-fullchain.pem'],
  ['dnssec-csk.json'],
]
const FILES: readonly string[] = GROUPS.flat()
/** The groups that are a certificate with its key, by their first file. */
const PAIRS: Readonly<Record<string, { key: string; chain: string }>> = {
  'privatekey.pem': { key: 'privatekey.pem', chain: 'fullchain.pem' },
  'quic-privatekey.pem': { key: 'quic-privatekey.pem', chain: 'quic-fullchain.pem' },
}

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
  /** One change comes after the other: two writes of a file would meet. */
  #running: Promise<unknown> = Promise.resolve()

  constructor(parts: SharedFilesParts) {
    this.#parts = parts
  }

  /** @param listener called with each file that another machine has changed, when it is written here */
  onChange(listener: (name: string) => void): void {
    this.#onChange = listener
  }

  /**
   * Takes the engine's files, before this machine reads its own. A certificate that the operator has renewed here meanwhile
   * stays, and {@link publish} gives it to the others.
   * @throws SettingsError when this machine has another identity, or another secret
   */
  async load(): Promise<void> {
    await this.#inTurn(async () => {
      // A write that the end of the process has interrupted.
      await finishManagedPair(this.#parts.directory)
      for (const group of GROUPS) await this.#load(group)
    })
  }

  /** Takes one file of the engine. @returns whether it has changed here @throws SettingsError as {@link load} does */
  async refresh(name: string): Promise<boolean> {
    return await this.#inTurn(() => this.#refresh(name))
  }

  /** Gives the engine the files that are here: after {@link load}, all that differ are newer. @throws EngineError */
  async publish(names: readonly string[] = FILES): Promise<void> {
    await this.#inTurn(async () => {
      for (const group of GROUPS) if (group.some((name) => names.includes(name))) await this.#publish(group)
    })
  }

  /** The engine has lost everything. */
  forget(): void {
    this.#known.clear()
  }

  /** Follows a change that another machine made. Never rejects. */
  async follow(name: string, sealed: string): Promise<void> {
    if (!FILES.includes(name)) return
    try {
      const isChanged = await this.#inTurn(
        async () => this.#known.get(name) !== sealed && (await this.#take(name, sealed)),
      )
      if (isChanged) this.#onChange?.(name)
    } catch (error) {
      this.#parts.log.error(
        { file: name, reason: (error as Error).message },
        'a file that another machine has changed cannot be taken',
      )
    }
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#running.then(change)
    this.#running = done.catch(() => {})
    return await done
  }

  async #load(group: readonly string[]): Promise<void> {
    const sealed = new Map<string, string>()
    for (const name of group) {
      const text = await this.#get(name)
      if (text !== undefined) sealed.set(name, text)
    }
    if (await this.#isNewerHere(group, sealed)) for (const [name, text] of sealed) this.#known.set(name, text)
    else for (const [name, text] of sealed) await this.#take(name, text)
  }

  /** Whether a certificate of this machine was issued later than the engine's. */
  async #isNewerHere(group: readonly string[], sealed: ReadonlyMap<string, string>): Promise<boolean> {
    const pair = PAIRS[group[0]!]
    const there = pair && sealed.get(pair.chain)
    if (pair === undefined || there === undefined) return false
    return isNewerPair(await this.#readPair(pair), this.#open(pair.chain, there))
  }

  async #refresh(name: string): Promise<boolean> {
    const sealed = await this.#get(name)
    return sealed !== undefined && (await this.#take(name, sealed))
  }

  async #get(name: string): Promise<string | undefined> {
    const { engine, keys } = this.#parts
    const sealed = await engine.command('GET', keys.file(name))
    return typeof sealed === 'string' ? sealed : undefined
  }

  /** All files of a group, or none, if one of them differs from the engine's. */
  async #publish(group: readonly string[]): Promise<void> {
    const { engine, keys, seal, run, directory } = this.#parts
    const here: [name: string, text: string][] = []
    for (const name of group) {
      const text = await readIfPresent(join(directory, name))
      if (text !== undefined) here.push([name, text])
    }
    if (!here.some(([name, text]) => this.#differs(name, text))) return
    const pair = PAIRS[group[0]!]
    // An operator is just replacing them, or has made a mistake, which this machine's log says.
    if (pair !== undefined && !isPair(await this.#readPair(pair))) return
    const put = here.map(([name, text]) => ({ name, sealed: seal.close(name, text) }))
    const isPut = await engine.run(
      PUT_FILES,
      [keys.changes, ...put.map(({ name }) => keys.file(name))],
      [CHANGES_KEPT, run, ...put.flatMap(({ name, sealed }) => [name, this.#known.get(name) ?? '', sealed])],
    )
    if (Number(isPut) === 1) for (const { name, sealed } of put) this.#known.set(name, sealed)
    // Another machine was faster.
    else for (const name of group) if (await this.#refresh(name)) this.#onChange?.(name)
  }

  #differs(name: string, text: string): boolean {
    const known = this.#known.get(name)
    return known === undefined || this.#open(name, known) !== text
  }

  async #readPair({ key, chain }: { key: string; chain: string }): Promise<{
    key: string | undefined
    chain: string | undefined
  }> {
    const { directory } = this.#parts
    return {
      key: await readIfPresent(join(directory, key)),
      chain: await readIfPresent(join(directory, chain)),
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
