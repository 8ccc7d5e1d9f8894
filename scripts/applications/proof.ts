// Real software with its defaults behind `svc expose`: `npm run interop -- applications [NAME…]`. A whole run writes
// its section of docs/internals/compatibility.md.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { reported, runSvc } from '../../sdk-node/test/support/svc.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { isListening } from '../../tools/network/is-listening.ts'
import { isRunning, spawnServer } from '../../tools/programs/server-process.ts'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'
import { COMPATIBILITY_PAGE, writeSection } from '../pages/section.ts'
import { type Application, Unavailable } from './application.ts'
import { APPLICATIONS } from './applications.ts'
import { type ApplicationRow, asSection } from './page.ts'
import { Visitor } from './visitor.ts'

/** Frameworks do not compile what lies in a `node_modules`. */
const FOLDER: string = path.join(homedir(), '.cache/svc-applications')
/** Milliseconds for an application to listen, and between two looks. */
const START_TIMEOUT_MS = 120_000
const LOOK_MS = 250
/** The longest name of a site. */
const LABEL_CHARACTERS = 22

/**
 * @param names of applications, none for all
 * @returns whether nothing that could be had failed
 */
export async function proveApplications(names: readonly string[]): Promise<boolean> {
  const wanted = APPLICATIONS.filter(({ name }) => names.length === 0 || names.includes(name))
  const relay = await startTestRelay()
  const rows: ApplicationRow[] = []
  try {
    for (const application of wanted) {
      const row = await prove(application, relay)
      console.log(`${row.name} ${row.version ?? ''}: ${row.result} (${application.checks})`)
      rows.push(row)
    }
  } finally {
    await relay.stop()
  }
  if (names.length === 0) writeSection(COMPATIBILITY_PAGE, 'applications', asSection(rows))
  return rows.every(({ isFailed }) => !isFailed)
}

async function prove(application: Application, relay: TestRelay): Promise<ApplicationRow> {
  const { name, setting } = application
  const folder = path.join(FOLDER, name)
  mkdirSync(folder, { recursive: true })
  const row = { name, setting, isFailed: false }
  let version: string | undefined
  try {
    version = application.install(folder)
    await serve(application, folder, relay)
    return { ...row, version, result: 'works' }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof Unavailable) return { ...row, version, result: `not run: ${message}` }
    return { ...row, version, isFailed: true, result: `fails: ${message}` }
  }
}

/**
 * Starts an application that is installed, and exposes it for its check.
 * @throws Error that says what is wrong
 */
export async function serve(application: Application, folder: string, relay: TestRelay): Promise<void> {
  const port = await freePort()
  const [command = '', ...args] = application.start(folder, port)
  const server = spawnServer(command, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  for (const stream of [server.stdout!, server.stderr!])
    stream.on('data', (bytes: Buffer) => {
      said = `${said}${bytes}`.slice(-1000)
    })
  const home = mkdtempSync(path.join(tmpdir(), 'svc-application-'))
  const name = labelOf(application)
  try {
    await untilListening(server, port, () => said)
    const svc = runSvc(home, [
      'expose',
      String(port),
      '--relay',
      relay.url,
      '--ca',
      relay.caFile,
      '--name',
      name,
      '--json',
    ])
    try {
      const { url = '' } = await reported(svc, 'online')
      await application.check(
        new Visitor(url, Number(new URL(relay.url).port), readFileSync(relay.caFile)),
        folder,
      )
    } catch (error) {
      throw new Error(`${(error as Error).message} ${svc.err.join(' ')}`.trim(), { cause: error })
    } finally {
      svc.interrupt()
      await svc.ended
    }
  } finally {
    endGroup(server)
    rmSync(home, { recursive: true, force: true })
  }
}

/** @returns a name that a relay takes */
function labelOf({ name }: Application): string {
  const words = `app-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
  return words.slice(0, LABEL_CHARACTERS).replace(/-$/, '')
}

async function untilListening(server: ChildProcess, port: number, said: () => string): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS
  while (!(await isListening(port))) {
    if (!isRunning(server)) throw new Error(`it ended: ${said().slice(-300)}`)
    if (performance.now() > until) throw new Error(`it does not listen: ${said().slice(-300)}`)
    await delay(LOOK_MS)
  }
}

/** Development servers have processes of their own. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
