// Looks at an engine without changing anything: whether it answers, keeps what it is given, and has other machines.

import type { ClusterSettings } from '../config/cluster-settings.ts'
import { createLog } from '../log/log.ts'
import { Engine } from './engine/engine.ts'
import { EngineKeys } from './engine/keys.ts'
import { ENGINE_INSPECT_MS, HEARTBEAT_MS, MACHINE_GONE_MS } from './limits.ts'
import { Seal } from './shared/seal.ts'

const IDENTITY_FILE = 'identity.json'

export interface EngineInspection {
  version: string
  /** Machines that have said within the last seconds that they are there. */
  machines: string[]
  /** Whether the other machines have the same secret; undefined where there were none yet. */
  hasSameSecret: boolean | undefined
  /** Whether it writes its data to disk, and whether it drops entries when its memory is full; undefined where it does not tell. */
  isDurable: boolean | undefined
  evicts: boolean | undefined
}

/** @param host authority of the relay's URL @throws EngineError when it does not answer */
export async function inspectEngine(settings: ClusterSettings, host: string): Promise<EngineInspection> {
  const engine = new Engine(settings.engine, createLog('silent'))
  const keys = new EngineKeys(host)
  try {
    await engine.untilUp(ENGINE_INSPECT_MS)
    const [time, entries, sealed, info] = await Promise.all([
      engine.command('TIME') as Promise<[string, string]>,
      engine.command('HGETALL', keys.machines) as Promise<string[]>,
      engine.command('GET', keys.file(IDENTITY_FILE)),
      engine.command('INFO', 'server').catch(() => ''),
    ])
    return {
      version: /^(?:valkey|redis)_version:(\S+)/m.exec(`${info}`)?.[1] ?? 'of an unknown version',
      machines: aliveOf(entries, Number(time[0]) * 1000),
      hasSameSecret: typeof sealed === 'string' ? opens(settings.secret, sealed) : undefined,
      isDurable: await settingOf(engine, 'appendonly').then((value) => value && value === 'yes'),
      evicts: await settingOf(engine, 'maxmemory-policy').then((value) => value && value !== 'noeviction'),
    } as EngineInspection
  } finally {
    await engine.close()
  }
}

function aliveOf(entries: readonly string[], now: number): string[] {
  const names: string[] = []
  for (let at = 0; at + 1 < entries.length; at += 2)
    if (now - Number.parseInt(entries[at + 1]!, 10) < MACHINE_GONE_MS + HEARTBEAT_MS) names.push(entries[at]!)
  return names
}

function opens(secret: string, sealed: string): boolean {
  try {
    new Seal(secret).open(IDENTITY_FILE, sealed)
    return true
  } catch {
    return false
  }
}

/** Hosted engines may forbid the question. */
async function settingOf(engine: Engine, name: string): Promise<string | undefined> {
  const [, value] = ((await engine.command('CONFIG', 'GET', name).catch(() => [])) ?? []) as string[]
  return value
}
