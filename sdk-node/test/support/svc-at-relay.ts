// `svc` at a real relay, with a web server behind it: each test has a home of its own, and what it runs ends with it.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { listening } from './exposed.ts'
import { startTestRelay, type TestRelay } from './relay.ts'
import { type Run, reported, runHere } from './svc.ts'

export interface SvcAtRelay {
  readonly relay: TestRelay
  /** The port of the web server, as an argument. */
  readonly port: string
  /** The home of the test that runs. */
  readonly home: string
  /** The arguments that name the relay, and ask for JSON. */
  at(): string[]
  /** Runs a command in this process, until the test ends. */
  svc(...args: string[]): Run
  /** Exposes the web server, and resolves when it is online. */
  expose(...args: string[]): Promise<Run & { url: string }>
  /** Resolves with what a command with `--json` said until it ended. */
  said(...args: string[]): Promise<Record<string, string>[]>
}

/** @param target the web server. @default one that says hello */
export function useSvcAtRelay(
  target: Server = createServer((_, response) => response.end('hello')),
): SvcAtRelay {
  let relay: TestRelay
  let port = ''
  let home = ''
  const running: Run[] = []
  beforeAll(async () => {
    relay = await startTestRelay()
    port = String(await listening(target))
  })
  afterAll(async () => {
    target.closeAllConnections()
    target.close()
    await relay.close()
  })
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-at-relay-'))
  })
  afterEach(async () => {
    for (const run of running.splice(0)) await run.stop()
    await rm(home, { recursive: true })
  })
  const at = (): string[] => ['--relay', relay.origin, '--ca', relay.caFile, '--json']
  const svc = (...args: string[]): Run => {
    const run = runHere(home, args)
    running.push(run)
    return run
  }
  return {
    get relay() {
      return relay
    },
    get port() {
      return port
    },
    get home() {
      return home
    },
    at,
    svc,
    expose: async (...args) => {
      const run = svc('expose', port, ...args, ...at())
      const { url } = await reported(run, 'online')
      return { ...run, url: url! }
    },
    said: async (...args) => {
      const run = svc(...args, '--json')
      await run.ended
      return [...run.out, ...run.err].map((line) => JSON.parse(line))
    },
  }
}
