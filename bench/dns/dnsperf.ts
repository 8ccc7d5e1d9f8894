// Runs dnsperf and reads what it says.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { DebianPrograms } from '../../tools/programs/debian-packages.ts'
import { COOKIE_OPTION } from './cookie.ts'

export interface LoadOptions {
  port: number
  /** Lines such as `relay.test A`. */
  questions: readonly string[]
  seconds: number
  /** With the flag DO, so that answers are signed. */
  signed: boolean
  /** @default 'udp' */
  transport?: 'udp' | 'tcp'
  /** Sent with each query: client and server cookie (RFC 7873), in hexadecimal digits. */
  cookie?: string
  /** Queries a second; as many as there are answers without. */
  perSecond?: number
}

export interface LoadReport {
  answers: number
  perSecond: number
  /** Milliseconds within which 99 % of the answers came; lost ones count as never. */
  p99Ms: number
  lostShare: number
}

const OUTSTANDING = 200
const CLIENTS = 4
const MAX_OUTPUT_BYTES: number = 256 * 1024 * 1024

export async function load(debian: DebianPrograms, options: LoadOptions): Promise<LoadReport> {
  const { port, questions, seconds, signed, transport = 'udp', cookie, perSecond } = options
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-bench-dnsperf-'))
  const file = path.join(directory, 'questions')
  writeFileSync(file, `${questions.join('\n')}\n`)
  // Each answer's latency is a line: only a load that is not the largest possible has room for that.
  const args = [
    ...['-s', '127.0.0.1', '-p', `${port}`, '-d', file, '-l', `${seconds}`],
    ...['-c', `${CLIENTS}`, '-q', `${OUTSTANDING}`, ...(signed ? ['-D'] : [])],
    ...['-m', transport],
    ...(cookie === undefined ? [] : ['-E', `${COOKIE_OPTION}:${cookie}`]),
    ...(perSecond === undefined ? [] : ['-Q', `${perSecond}`, '-v']),
  ]
  try {
    const { stdout } = await promisify(execFile)(debian.pathOf('dnsperf'), args, {
      env: { ...process.env, ...debian.env },
      maxBuffer: MAX_OUTPUT_BYTES,
    })
    return reportOf(stdout)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function reportOf(output: string): LoadReport {
  const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? Number.NaN)
  const lost = number(/Queries lost:\s+(\d+)/)
  const sent = number(/Queries sent:\s+(\d+)/)
  const latencies = [...output.matchAll(/^> \w+ \S+ \w+ (\d+\.\d+)$/gm)].map(
    ([, seconds]) => Number(seconds) * 1000,
  )
  latencies.push(...Array.from({ length: lost }, () => Number.POSITIVE_INFINITY))
  latencies.sort((a, b) => a - b)
  return {
    answers: number(/Queries completed:\s+(\d+)/),
    perSecond: number(/Queries per second:\s+([\d.]+)/),
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    lostShare: lost / sent,
  }
}
