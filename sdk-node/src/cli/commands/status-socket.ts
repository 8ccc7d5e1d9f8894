// `svc status`: each running `svc` answers at its own socket, which, unlike a file, shows that the process is still running.

import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { asSvcError } from '@svc/sdk-core'
import type { Report, Reporter, SiteStatus } from '../report/report.ts'
import type { StatusStore } from '../report/status-store.ts'

/** The deadline of a process's answer, in milliseconds: it answers at once, unless it is stopped. */
const ANSWER_DEADLINE_MS = 2_000
const SUFFIX = '.sock'
/** The errors of a socket whose process has ended. */
const GONE: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT'])

/** A site, or a process that does not answer. */
type StatusReport = Extract<Report, { event: 'status' | 'error' }>

interface Status {
  pid: number
  started_at: string
  sites: SiteStatus[]
}

/**
 * Answers with the content of the store until it is closed.
 * @param folder the folder of all such sockets, created if needed
 * @throws SvcError `invalid_option` when the socket cannot be created
 */
export async function shareStatus(folder: string, store: StatusStore): Promise<{ close(): void }> {
  const started_at = new Date().toISOString()
  const server = createServer((socket) => {
    socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy())
    socket.on('error', () => {})
    const status: Status = { pid: process.pid, started_at, sites: store.snapshot() }
    socket.end(JSON.stringify(status))
  })
  server.unref()
  const path = join(folder, `${process.pid}${SUFFIX}`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // The file is from a killed process with the same pid.
    await rm(path, { force: true })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    await chmod(path, 0o600)
  } catch (cause) {
    server.close()
    throw asSvcError(cause, 'invalid_option', `svc status will not see this: no socket ${path}`)
  }
  return { close: () => void server.close() }
}

/** Reports each running site. */
export async function showStatus(folder: string, tell: Reporter): Promise<void> {
  const reports = await readStatus(folder)
  for (const report of reports) tell(report)
  if (reports.length === 0) tell({ event: 'idle' })
}

/** Asks all running processes, and removes the sockets of killed ones. */
export async function readStatus(folder: string): Promise<StatusReport[]> {
  const names = await readdir(folder).catch(() => [])
  const asked = names.filter((name) => name.endsWith(SUFFIX)).map((name) => ask(join(folder, name)))
  return (await Promise.all(asked)).flat()
}

async function ask(path: string): Promise<StatusReport[]> {
  const socket = connect(path)
  socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy(new Error('no answer in time')))
  try {
    const { pid, started_at, sites }: Status = JSON.parse(Buffer.concat(await socket.toArray()).toString())
    return sites.map((site) => ({ event: 'status', pid, started_at, ...site }))
  } catch (error) {
    if (GONE.has((error as NodeJS.ErrnoException).code)) {
      await rm(path, { force: true })
      return []
    }
    const message = `process ${basename(path, SUFFIX)} does not answer: it is stopped, or very busy`
    return [{ event: 'error', code: 'no_answer', message }]
  }
}
