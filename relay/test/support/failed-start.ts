// Starts a relay that cannot start, in this process, and prints why, and what is left of it. Nothing here ends the process.

import { createHook } from 'node:async_hooks'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** The modules that keep a port, a process, a thread, a timer or a watch. */
const KINDS = new Set([
  'FSEVENTWRAP',
  'MESSAGEPORT',
  'PROCESSWRAP',
  'TCPSERVERWRAP',
  'TCPWRAP',
  'Timeout',
  'UDPWRAP',
  'WORKER',
])
/** Ends of threads come some turns of the event loop after their close. */
const SETTLE_MS = 200

const open = new Map<number, { kind: string; resource: object }>()
const seen = new Set<string>()
let isStarting = true
const hook = createHook({
  init: (id, kind, _trigger, resource) => {
    if (!isStarting || !KINDS.has(kind)) return
    open.set(id, { kind, resource })
    seen.add(kind)
  },
  destroy: (id) => void open.delete(id),
})

/** A timer that runs once, and for which no process waits, is over soon. */
function isOver(resource: object): boolean {
  const { _repeat, hasRef } = resource as { _repeat?: number | null; hasRef?(): boolean }
  return _repeat === null && hasRef?.call(resource) === false
}

/** Paths of open files in the state directory, where the system lists them. */
async function openFiles(): Promise<string[]> {
  const directory = '/proc/self/fd'
  const names = await readdir(directory).catch(() => [])
  const paths = await Promise.all(names.map((name) => readlink(join(directory, name)).catch(() => '')))
  return paths.filter((path) => path.startsWith(`${process.env.IDENTITY_PATH}/`))
}

const { readSettings, startRelay } = await import('../../src/index.ts')
const { createLog } = await import('../../src/core/log/log.ts')
const settings = readSettings(process.env)
const log = createLog('silent')
hook.enable()
let failure: string | undefined
try {
  await startRelay(settings, log)
} catch (error) {
  failure = (error as Error).message
}
isStarting = false
await setTimeout(SETTLE_MS)
const left = [...open.values()].filter(({ resource }) => !isOver(resource)).map(({ kind }) => kind)
const files = await openFiles()
process.stdout.write(JSON.stringify({ failure, left: [...left, ...files], seen: [...seen] }))
