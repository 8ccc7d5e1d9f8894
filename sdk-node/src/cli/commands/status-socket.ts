// `svc status`: each running `svc` answers at its own socket, which, unlike a file, shows that the process is still running.

import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename } from 'node:path'
import type { Report, Reporter, SiteStatus } from '../report/report.ts'
import type { StatusStore } from '../report/status-store.ts'
import { listenAt, SUFFIX, socketsIn } from './command-socket.ts'

/** The deadline of a process's answer, in milliseconds: it answers at once, unless it is stopped. */
const ANSWER_DEADLINE_MS = 2_000
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
export function shareStatus(folder: string, store: StatusStore): Promise<{ close(): void }> {
  const started_at = new Date().toISOString()
  return listenAt(folder, 'svc status', (socket) => {
    socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy())
    socket.on('error', () => {})
    const status: Status = { pid: process.pid, started_at, sites: store.snapshot() }
    socket.end(JSON.stringify(status))
    // The other end says nothing: its end, too, has to be read.
    socket.resume()
  })
}

/** Reports each running site. */
export async function showStatus(folder: string, tell: Reporter): Promise<void> {
  const reports = await readStatus(folder)
  for (const report of reports) tell(report)
  if (reports.length === 0) tell({ event: 'idle' })
}

/** Asks all running processes, and removes the sockets of killed ones. */
export async function readStatus(folder: string): Promise<StatusReport[]> {
  return (await Promise.all((await socketsIn(folder)).map(ask))).flat()
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
