// Starts `svc-relay` and `svc` as a package brought them, on a given Node, and visits what they publish.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { curl } from '../../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'

/** Milliseconds until a command listens, or has published: on a machine that is busy npx alone takes seconds. */
const ONLINE_TIMEOUT_MS = 60_000
/** Milliseconds from SIGTERM to SIGKILL. */
const STOP_TIMEOUT_MS = 15_000
/** Milliseconds between two looks at processes that are to end. */
const POLL_MS = 50
const ANSWER = 'hello from a local service\n'

export interface CommandLine {
  /** The directory in which the commands start. */
  cwd: string
  /** @returns the program and the arguments that stand for a command */
  of(name: string): string[]
  /** The variables that the commands need. */
  env: Record<string, string>
}

/** The directory of `node` comes first in PATH: the commands' first line asks `env` for it. */
export function pathWith(node: string): { PATH: string } {
  return { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` }
}

/** Starts `svc-relay`. @throws Error with its output when it does not listen */
export async function startPackagedRelay(
  line: CommandLine,
  settings: Record<string, string> = {},
): Promise<TestRelay> {
  const relay = await startTestRelay({
    program: line.of('svc-relay'),
    cwd: line.cwd,
    env: { ...line.env, ...settings },
    startTimeoutMs: ONLINE_TIMEOUT_MS,
  })
  const stop = async (): Promise<void> => {
    await endGroup(relay.pid)
    await relay.stop()
  }
  return { ...relay, stop }
}

/** Runs `svc expose` for a local HTTP server, and visits it. @throws Error that says what went wrong */
export async function proveExpose(line: CommandLine, relay: TestRelay): Promise<string> {
  const server = createServer((_request, response) => response.end(ANSWER)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const svc = startSvc(line, relay, ['expose', String(portOf(server)), '--name', 'packaged'])
  try {
    const url = await svc.online
    const answer = String(await curl(relay.caFile, url))
    if (answer !== ANSWER) throw new Error(`${url} answers ${JSON.stringify(answer)}`)
    return `${url} answers`
  } finally {
    await svc.stop()
    server.close()
  }
}

/** Gets the scripts of the installer from a packaged relay. @throws Error that names the one without this relay's address */
export async function proveInstaller(relay: TestRelay): Promise<string> {
  for (const name of ['install.sh', 'install.ps1']) {
    const script = String(await curl(relay.caFile, `${relay.url}/api/${name}`))
    if (!script.includes(`'${relay.url}'`)) throw new Error(`${name} is not for ${relay.url}: ${script}`)
  }
  return 'install.sh and install.ps1'
}

interface Svc {
  /** Resolves with the address at which visitors come. */
  online: Promise<string>
  stop(): Promise<void>
}

export function startSvc(line: CommandLine, relay: TestRelay, args: readonly string[]): Svc {
  const [program = '', ...rest] = line.of('svc')
  const state = path.join(path.dirname(relay.caFile), 'svc.json')
  const common = ['--relay', relay.url, '--ca', relay.caFile, '--identity-path', state]
  const child = spawn(program, [...rest, ...args, ...common], {
    cwd: line.cwd,
    env: { ...process.env, ...line.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npx is the parent of what it starts: all of the group is ended.
    detached: true,
  })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const online = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (text) => {
      output += `${text}\n`
      const [url] = /(?:https|udp):\/\/\S+/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    const fail = (why: string): void => reject(new Error(`svc ${args[0]} ${why}:\n${output}`))
    child.once('error', ({ message }) => fail(`cannot start: ${message}`))
    child.once('exit', (code) => fail(`ended with ${code}`))
    setTimeout(ONLINE_TIMEOUT_MS, undefined, { ref: false }).then(() => fail('published nothing'))
  })
  online.catch(() => {})
  return { online, stop: () => endGroup(child.pid) }
}

/** Ends a process and all that it started: npx, for one, ends by a signal before the command does. */
async function endGroup(pid: number | undefined): Promise<void> {
  if (pid === undefined) return
  signalGroup(pid, 'SIGTERM')
  const deadline = performance.now() + STOP_TIMEOUT_MS
  while (signalGroup(pid, 0) && performance.now() < deadline) await setTimeout(POLL_MS)
  signalGroup(pid, 'SIGKILL')
}

/** @returns whether there is such a group */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
