// What a machine shares with the others before its state is open: the engine with its keys, and the files of the state directory.

import { randomUUID } from 'node:crypto'
import type { IsOver } from '../../core/auth/lease-authorizer.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'
import type { Logger } from '../../core/log/log.ts'
import { Engine } from './engine/engine.ts'
import { EngineClock } from './engine/engine-clock.ts'
import { withEngineLock } from './engine/engine-lock.ts'
import { EngineKeys } from './engine/keys.ts'
import { ENGINE_START_MS } from './limits.ts'
import { markOf } from './links/machine-links.ts'
import { authorityOf, type ClusterSettings } from './settings.ts'
import { deriveClusterKey } from './shared/cluster-key.ts'
import { Seal } from './shared/seal.ts'
import { SharedFiles } from './shared/shared-files.ts'

export class ClusterConnection {
  /** CLUSTER_ADDR of this machine, by which the others know it. */
  readonly name: string
  /** Names this start of the machine. */
  readonly run: string = randomUUID()
  readonly engine: Engine
  readonly keys: EngineKeys
  /** Derived from the secret. */
  readonly key: Buffer
  readonly seal: Seal
  readonly clock: EngineClock = new EngineClock()
  readonly files: SharedFiles
  readonly log: Logger
  /** Whether a lease that this machine does not know is over. Until the machine joins the others, it knows of none. */
  isOver: IsOver = () => false
  readonly #closing = new AbortController()

  constructor({ cluster, host, identityPath }: Settings & { cluster: ClusterSettings }, log: Logger) {
    this.log = log
    this.name = authorityOf(cluster.address)
    this.engine = new Engine(cluster.engine, log)
    this.key = deriveClusterKey(cluster.secret, host)
    this.seal = new Seal(this.key, log)
    this.keys = new EngineKeys(host, this.seal)
    const { engine, keys, seal, run } = this
    this.files = new SharedFiles({ engine, keys, seal, run, log, directory: identityPath })
  }

  /** The bytes with which bindings of this machine begin, behind that of the process. */
  get bindingMark(): Buffer {
    return markOf(this.name)
  }

  /**
   * Opens the state directory, once it has the files that all machines have.
   * @throws SettingsError when the engine does not answer, or this machine does not fit the others
   */
  async openState<State>(open: () => Promise<State>): Promise<State> {
    await this.engine.untilUp(ENGINE_START_MS).catch((error: Error) => {
      throw new SettingsError('CLUSTER_URL', error.message)
    })
    return await withEngineLock(this, 'start', this.#closing.signal, async () => {
      await this.files.load()
      const state = await open()
      await this.files.publish()
      return state
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.engine.close()
  }
}
