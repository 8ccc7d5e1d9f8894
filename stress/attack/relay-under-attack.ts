// A real relay in a process of its own with everything switched on, an honest site of this process, and honest visitors.
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { freePort, freeRange } from '../../tools/network/free-port.ts'
import {
  BUDGETS_OF_MANY,
  NEVER_OVERLOADED,
  type RelayProcess,
  startRelay,
} from '../../tools/relay/process.ts'
import { HELLO, type HonestSite, publishHonestSite } from './honest-site.ts'
import { HonestVisitors, type Visitors } from './honest-visitors.ts'
import { type HonestVisits, honestVisits } from './honest-visits.ts'
import { startTimeOf } from './process-usage.ts'
import type { Target } from './target.ts'
import { VisitorsInTurn } from './visitors-in-turn.ts'

const ROOT_HOST = 'relay.localhost'
const DEDICATED_PORTS = 16
/** Bytes of a page's file: more than a stream or a kernel keeps of a response. */
const LARGE_FILE_BYTES: number = 16 * 1024 * 1024
const ASSET_BYTES = 200_000
/** Room for some forty snapshots of one byte, each of which takes three blocks of the disk. */
const CACHE_BYTES: number = 512 * 1024
/**
 * The relay's own options let 256 MB of garbage lie about before they are collected, which would hide what is held. With
 * these the collector is in a hurry, so that memory is what something refers to.
 */
const HEAP_OPTIONS = ['--initial-heap-size=32', '--max-semi-space-size=8']
/** Options of Node for the relay of a slice, in which nothing may depend on the machine's speed. */
const SLICE_OPTIONS = [NEVER_OVERLOADED]
/** Levels of the relay's log. */
const ERROR_LEVEL = 50

export interface StartOptions {
  /** Judges nothing by time: visitors come in turn, and the relay takes no lateness for overload. */
  isSlice: boolean
  env?: Record<string, string>
  /** A program with its arguments that becomes the relay. */
  through?: string[]
  /** The relay's state directory; by default one that is removed at the end. */
  state?: string
}

export class RelayUnderAttack {
  readonly target: Target
  readonly visitors: Visitors
  readonly isSlice: boolean
  readonly #relay: RelayProcess
  readonly #startTime: string | undefined
  readonly #site: HonestSite
  readonly #visits: HonestVisits
  readonly #directory: string
  readonly #errors: string[]

  private constructor(parts: {
    relay: RelayProcess
    startTime: string | undefined
    site: HonestSite
    visits: HonestVisits
    target: Target
    directory: string
    errors: string[]
    isSlice: boolean
  }) {
    this.#relay = parts.relay
    this.#startTime = parts.startTime
    this.#site = parts.site
    this.#visits = parts.visits
    this.#directory = parts.directory
    this.#errors = parts.errors
    this.target = parts.target
    this.isSlice = parts.isSlice
    const { visits } = parts.visits
    this.visitors = parts.isSlice ? new VisitorsInTurn(visits) : new HonestVisitors(visits)
  }

  static async start({ isSlice, env = {}, through = [], state }: StartOptions): Promise<RelayUnderAttack> {
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-attack-'))
    // the ports that serve UDP, too
    const [port, firstPort] = [await freeRange(1), await freeRange(DEDICATED_PORTS)]
    const metricsPort = await freePort()
    const adminToken = randomBytes(24).toString('hex')
    const identityPath = state ?? path.join(directory, 'state')
    const url = `https://${ROOT_HOST}:${port}`
    const errors: string[] = []
    served ??= makeServed()
    const { pages, installer } = await served
    const relay = await startRelay({
      env: {
        SVC_URL: url,
        SNI_PORT: String(port),
        IDENTITY_PATH: identityPath,
        ADMIN_TOKEN: adminToken,
        METRICS_ADDR: String(metricsPort),
        TCP_ENABLED: 'true',
        UDP_ENABLED: 'true',
        STATIC_CACHE_ENABLED: 'true',
        STATIC_CACHE_BYTES: String(CACHE_BYTES),
        MIN_PORT: String(firstPort),
        MAX_PORT: String(firstPort + DEDICATED_PORTS - 1),
        SVC_SITE_DIR: pages,
        SVC_INSTALL_DIR: installer,
        LOG_LEVEL: 'info',
        ...BUDGETS_OF_MANY,
        ...env,
      },
      execArgv: isSlice ? [...HEAP_OPTIONS, ...SLICE_OPTIONS] : HEAP_OPTIONS,
      through,
      onLog: (line) => {
        if (isError(line)) errors.push(line)
      },
    })
    const caFile = path.join(identityPath, 'ca.pem')
    const ca = await readFile(caFile, 'utf8')
    const site = await publishHonestSite(url, ca)
    const target: Target = {
      url,
      rootHost: ROOT_HOST,
      port,
      ca,
      siteHost: site.hostname,
      tcpPort: site.tcpPort,
      udpPort: site.udpPort,
      metricsPort,
      adminToken,
    }
    const visits = await honestVisits(target, site.url, caFile)
    const startTime = await startTimeOf(relay.pid)
    return new RelayUnderAttack({ relay, startTime, site, visits, target, directory, errors, isSlice })
  }

  get pid(): number {
    return this.#relay.pid
  }

  /** @returns whether it is the process that it was at the start, and alive */
  async isTheSame(): Promise<boolean> {
    return this.#startTime !== undefined && (await startTimeOf(this.pid)) === this.#startTime
  }

  /** Lines of its log about errors, and what it said outside of its log, since this was asked for last. */
  takeErrors(): string[] {
    return this.#errors.splice(0)
  }

  /** @returns the exit code of a relay that was asked to stop */
  async stop(): Promise<number | null> {
    await this.visitors.stop()
    this.#visits.close()
    await this.#site.close()
    await this.#relay.stop()
    await rm(this.#directory, { recursive: true })
    return this.#relay.exitCode()
  }
}

/** What every relay of this process serves: large files, which are made once. */
let served: Promise<{ pages: string; installer: string }> | undefined

async function makeServed(): Promise<{ pages: string; installer: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-attack-files-'))
  process.once('exit', () => rmSync(directory, { recursive: true }))
  return { pages: await makePages(directory), installer: await makeInstaller(directory) }
}

async function makePages(directory: string): Promise<string> {
  const pages = path.join(directory, 'pages')
  await mkdir(path.join(pages, 'assets'), { recursive: true })
  await writeFile(path.join(pages, 'index.html'), HELLO)
  await writeFile(path.join(pages, 'large.bin'), randomBytes(LARGE_FILE_BYTES))
  const asset = path.join(pages, 'assets/app-01234567.js')
  for (const suffix of ['', '.br', '.gz']) await writeFile(`${asset}${suffix}`, randomBytes(ASSET_BYTES))
  return pages
}

async function makeInstaller(directory: string): Promise<string> {
  const installer = path.join(directory, 'installer')
  await mkdir(path.join(installer, 'bin'), { recursive: true })
  await writeFile(path.join(installer, 'install.sh'), '#!/bin/sh\n')
  const binary = path.join(installer, 'bin/linux-amd64')
  await writeFile(binary, randomBytes(LARGE_FILE_BYTES))
  await chmod(binary, 0o755)
  // This one is unpacked while it is sent.
  await writeFile(path.join(installer, 'bin/linux-arm64.gz'), gzipSync(randomBytes(LARGE_FILE_BYTES)))
  return installer
}

/** A line that is not of the log is the process's own last output. */
function isError(line: string): boolean {
  try {
    return JSON.parse(line).level >= ERROR_LEVEL
  } catch {
    return true
  }
}
