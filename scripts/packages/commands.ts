// Starts `svc-relay` and `svc` as a package brought them, on a given Node, and visits what they publish.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { curl } from '../../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'

/** Milliseconds until `svc` has published; a machine that is busy takes seconds to start Node. */
const PUBLISH_TIMEOUT_MS = 20_000
/** Milliseconds from SIGTERM to SIGKILL. */
const STOP_TIMEOUT_MS = 5_000
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
export function startPackagedRelay(line: CommandLine, env: Record<string, string> = {}): Promise<TestRelay> {
  return startTestRelay({ program: line.of('svc-relay'), cwd: line.cwd, env: { ...line.env, ...env } })
}

/** Runs `svc expose` for a local HTTP server, and visits it. @throws Error that says what went wrong */
export async function proveExpose(line: CommandLine, relay: TestRelay): Promise<void> {
  const server = createServer((_request, response) => response.end(ANSWER)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const svc = startSvc(line, relay, ['expose', String(portOf(server)), '--name', 'packaged'])
  try {
    const url = await svc.online
    const answer = String(await curl(relay.caFile, url))
    if (answer !== ANSWER) throw new Error(`${url} answers ${JSON.stringify(answer)}`)
  } finally {
    await svc.stop()
    server.close()
  }
}

interface Svc {
  /** Resolves with the site's URL. */
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
      const [url] = /https:\/\/\S+/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    const fail = (why: string): void => reject(new Error(`svc ${args[0]} ${why}:\n${output}`))
    child.once('error', ({ message }) => fail(`cannot start: ${message}`))
    child.once('exit', (code) => fail(`ended with ${code}`))
    setTimeout(PUBLISH_TIMEOUT_MS, undefined, { ref: false }).then(() => fail('published nothing'))
  })
  online.catch(() => {})
  return { online, stop: () => endGroup(child) }
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  signalGroup(child.pid, 'SIGTERM')
  await Promise.race([ended, setTimeout(STOP_TIMEOUT_MS, undefined, { ref: false })])
  signalGroup(child.pid, 'SIGKILL')
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone already.
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
