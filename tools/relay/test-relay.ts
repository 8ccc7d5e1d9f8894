// A relay for tests: a process of its own with a state directory and a port of its own.
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../network/free-port.ts'
import {
  BUDGETS_OF_MANY,
  type RelayOptions,
  type RelayProcess,
  startRelay,
  WITHOUT_OVERLOAD,
} from './process.ts'

export interface TestRelay extends RelayProcess {
  url: string
  caFile: string
  /** Ends the process and removes its state. */
  stop(): Promise<void>
}

export interface TestRelayOptions
  extends Pick<RelayOptions, 'program' | 'cwd' | 'execArgv' | 'startTimeoutMs'> {
  /**
   * The port at which clients find it.
   * @default the port at which it listens
   */
  publicPort?: number
  /**
   * The port at which it listens.
   * @default any free port
   */
  port?: number
  env?: Record<string, string>
}

/** The variable that names a directory with a development CA, which the relays of a suite share: a browser trusts it once. */
export const AUTHORITY_VARIABLE = 'TEST_AUTHORITY'

/** Gives a relay the suite's CA, if there is one; without, the relay makes its own. */
export async function copyAuthority(state: string): Promise<void> {
  const directory = process.env[AUTHORITY_VARIABLE]
  if (directory !== undefined) await cp(directory, state, { recursive: true })
}

export async function startTestRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const { port = await freePort(), publicPort = port, env: more, execArgv = [], ...start } = options
  const url = `https://relay.localhost:${publicPort}`
  const state = await mkdtemp(path.join(tmpdir(), 'svc-e2e-relay-'))
  await copyAuthority(state)
  const env = {
    SVC_URL: url,
    SNI_PORT: String(port),
    IDENTITY_PATH: state,
    LOG_LEVEL: 'info',
    ...BUDGETS_OF_MANY,
    ...more,
  }
  const relay = await startRelay({ env, execArgv: [...WITHOUT_OVERLOAD, ...execArgv], ...start })
  return {
    ...relay,
    url,
    caFile: path.join(state, 'ca.pem'),
    stop: async () => {
      await relay.stop()
      await rm(state, { recursive: true })
    },
  }
}
