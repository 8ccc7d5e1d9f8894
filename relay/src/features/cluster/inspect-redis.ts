// Looks at an engine without changing anything: whether it answers, keeps what it is given, and has other machines.

import { createLog } from '../../core/log/log.ts'
import { Engine } from './engine/engine.ts'
import { EngineKeys } from './engine/keys.ts'
import { ENGINE_INSPECT_MS, HEARTBEAT_MS, MACHINE_GONE_MS } from './limits.ts'
import { openMachine, parseMachine } from './machines.ts'
import type { ClusterSettings } from './settings.ts'
import { deriveClusterKey } from './shared/cluster-key.ts'
import { Seal } from './shared/seal.ts'
import { openFile } from './shared/shared-files.ts'

const IDENTITY_FILE = 'identity.json'

export interface EngineInspection {
  version: string
  /** Machines that sent a heartbeat within the last seconds. */
  machines: string[]
  /** Whether the other machines have the same secret; undefined without other machines. */
  hasSameSecret: boolean | undefined
  /**
   * Whether it writes its data to disk, and whether it drops entries when its memory is full; undefined when it does
   * not report this.
   */
  isDurable: boolean | undefined
  evicts: boolean | undefined
}

/** @param host authority of the relay's URL @throws EngineError when it does not answer */
export async function inspectEngine(settings: ClusterSettings, host: string): Promise<EngineInspection> {
  const log = createLog('silent')
  const engine = new Engine(settings.engine, log)
  const seal = new Seal(deriveClusterKey(settings.secret, host), log)
  const keys = new EngineKeys(host, seal)
  try {
    await engine.untilUp(ENGINE_INSPECT_MS)
    const [time, entries, entry, info] = await Promise.all([
      engine.command('TIME') as Promise<[string, string]>,
      engine.command('HGETALL', keys.machines) as Promise<string[]>,
      engine.command('GET', keys.file(IDENTITY_FILE)),
      engine.command('INFO', 'server').catch(() => ''),
    ])
    return {
      version: /^(?:valkey|redis)_version:(\S+)/m.exec(`${info}`)?.[1] ?? 'of an unknown version',
      machines: aliveOf(seal, entries, Number(time[0]) * 1000),
      hasSameSecret:
        typeof entry === 'string' ? openFile(seal, IDENTITY_FILE, entry) !== undefined : undefined,
      isDurable: await settingOf(engine, 'appendonly').then((value) => value && value === 'yes'),
      evicts: await settingOf(engine, 'maxmemory-policy').then((value) => value && value !== 'noeviction'),
    } as EngineInspection
  } finally {
    await engine.close()
  }
}

function aliveOf(seal: Seal, entries: readonly string[], now: number): string[] {
  const names: string[] = []
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const text = openMachine(seal, entries[at]!, entries[at + 1]!)
    const machine = text === undefined ? undefined : parseMachine(text)
    if (machine !== undefined && now - machine.seen < MACHINE_GONE_MS + HEARTBEAT_MS) names.push(machine.name)
  }
  return names
}

/** Hosted engines may forbid the question. */
async function settingOf(engine: Engine, name: string): Promise<string | undefined> {
  const [, value] = ((await engine.command('CONFIG', 'GET', name).catch(() => [])) ?? []) as string[]
  return value
}
