// Runs h2load, a client in C, and reads what it says.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { DebianPrograms } from '../../tools/programs/debian-packages.ts'

export interface LoadOptions {
  /** The server's public URL; it is on this machine. */
  url: string
  /** Asked for in turn. */
  paths: readonly string[]
  connections: number
  seconds: number
  /** Requests a second of each connection, sent when they are due; without, each is sent when the last one is answered. */
  perSecond?: number
}

export interface LoadReport {
  answers: number
  seconds: number
  /** Bytes of bodies. */
  bytes: number
}

/** The same for both servers: what a server prefers would decide otherwise. */
const CIPHER = 'TLS_AES_128_GCM_SHA256'

/** @throws Error when a single request was answered without success, or not at all */
export async function load(debian: DebianPrograms, options: LoadOptions): Promise<LoadReport> {
  return withDirectory(async (directory) => {
    const output = await run(debian, directory, options, [])
    const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? Number.NaN)
    const [answers, failed] = [number(/(\d+) 2xx/), number(/(\d+) failed/)]
    const others = number(/2xx, (\d+) 3xx/) + number(/(\d+) 4xx/) + number(/(\d+) 5xx/)
    if (answers === 0 || failed + others !== 0 || !output.includes(`Cipher: ${CIPHER}`))
      throw new Error(`h2load says:\n${output}`)
    // It stops in the middle of what is under way, and counts what came of that, too.
    return { answers, seconds: options.seconds, bytes: number(/headers .*, .* \((\d+)\) data/) }
  })
}

/** @returns milliseconds from the moment at which each request was due until its answer was whole, in ascending order */
export async function latencies(
  debian: DebianPrograms,
  options: LoadOptions & { perSecond: number },
): Promise<number[]> {
  return withDirectory(async (directory) => {
    const log = path.join(directory, 'log')
    await run(debian, directory, options, [`--log-file=${log}`])
    const lines = (await readFile(log, 'utf8')).trim().split('\n')
    return lines
      .map((line) => line.split('\t').map(Number) as [number, number, number])
      .map(([, status, microseconds]) => (status === 200 ? microseconds / 1000 : Number.POSITIVE_INFINITY))
      .toSorted((one, other) => one - other)
  })
}

async function run(
  debian: DebianPrograms,
  directory: string,
  { url, paths, connections, seconds, perSecond }: LoadOptions,
  more: readonly string[],
): Promise<string> {
  const input = path.join(directory, 'input')
  await writeFile(input, `${paths.map((name) => `${url}/${name}`).join('\n')}\n`)
  const args = [
    ...['--h1', '-t', '1', '-m', '1', '-c', `${connections}`, '-D', `${seconds}`, '-i', input],
    ...[`--connect-to=127.0.0.1:${new URL(url).port}`, `--tls13-ciphers=${CIPHER}`],
    ...(perSecond === undefined ? [] : [`--rps=${perSecond}`]),
    ...more,
  ]
  const { stdout } = await promisify(execFile)(debian.pathOf('h2load'), args, {
    env: { ...process.env, ...debian.env },
  })
  return stdout
}

async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-h2load-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}
