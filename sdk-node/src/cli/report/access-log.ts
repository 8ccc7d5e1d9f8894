// The access log of `--log`: a line for each request, in the Common Log Format or as JSON. Like the output, it has no queries.

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SvcError } from '@svc/sdk-core'
import type { AgentRequest } from '../../agent/api-messages.ts'
import { LogFile } from '../../agent/log-file.ts'
import type { RequestReport } from '../../target/request-reports.ts'
import type { SiteCommand } from '../options/parsed-command.ts'
import { printable } from './printable.ts'

/** The size at which the file is rotated, in bytes: visitors must not fill the disk. */
const ACCESS_LOG_MAX_BYTES = 100 * 1024 * 1024
/** The longest path in a line, in characters. */
const PATH_MAX_CHARS = 2048

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** What a line has besides the report of a request. */
type Transfer = Pick<RequestReport, 'httpVersion' | 'bytes'>

export interface AccessLog {
  write(request: AgentRequest, transfer: Transfer): void
  /** Resolves when all lines are in the file. */
  flush(): Promise<void>
}

/** The files by path: tunnels of a process that log to the same file take turns. */
const files = new Map<string, LogFile>()

/**
 * Opens the access log of a tunnel. Resolves with undefined without the option.
 * @param areSeveral whether each line has to name its tunnel: in the Common Log Format it then begins with the name
 * @param warn called with a sentence when lines are lost
 * @throws SvcError `invalid_option` when the file cannot be written, or there is a format without one
 */
export async function openAccessLog(
  { options: { log, logFormat } }: SiteCommand,
  areSeveral: boolean,
  warn: (message: string) => void,
): Promise<AccessLog | undefined> {
  if (log === undefined) {
    if (logFormat === undefined) return undefined
    throw new SvcError('invalid_option', '--log-format is for --log: without it nothing is written')
  }
  const path = resolve(log)
  await open(path, 'a', 0o600).then(
    (file) => file.close(),
    (cause) => {
      throw new SvcError('invalid_option', `--log ${log} cannot be written`, { cause })
    },
  )
  const lost = (count: number, cause: unknown): void => {
    const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'the disk is too slow'
    warn(`${count} ${count === 1 ? 'request is' : 'requests are'} missing in ${log}: ${reason}`)
  }
  const file = files.get(path) ?? new LogFile(path, ACCESS_LOG_MAX_BYTES, lost)
  files.set(path, file)
  return {
    write: ({ path = '', ...request }, transfer) => {
      const cut = { ...request, path: path.slice(0, PATH_MAX_CHARS) }
      if (logFormat === 'json')
        file.write({ ...cut, http_version: transfer.httpVersion, bytes: transfer.bytes })
      else file.writeLine(commonLine(cut, transfer, areSeveral))
    },
    flush: () => file.flush(),
  }
}

/** @returns a line of the Common Log Format, and before it the tunnel if that is wanted */
export function commonLine(
  { tunnel, method, path = '', status, address = '-' }: Omit<AgentRequest, 'ms'>,
  { httpVersion, bytes = '-' }: { httpVersion: string; bytes?: number | string | undefined },
  isNamed: boolean,
  now: Date = new Date(),
): string {
  // The format has addresses only, no networks.
  const [host] = address.split('/')
  const version = httpVersion === '2' ? '2.0' : httpVersion
  // A URL has neither of the two.
  const request = printable(`${method} ${path} HTTP/${version}`).replaceAll('\n', '?').replaceAll('"', '%22')
  const line = `${host} - - [${commonTime(now)}] "${request}" ${status} ${bytes}`
  return isNamed && tunnel !== undefined ? `${tunnel} ${line}` : line
}

function commonTime(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T')
  const [year, month, day] = date.split('-')
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`
}
