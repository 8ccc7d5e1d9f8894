// A real relay as a process of its own, which can be killed and started again on the same port with the same state.

import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, freeRange } from '../../../tools/network/free-port.ts'
import {
  BUDGETS_OF_MANY,
  type RelayProcess,
  startRelay,
  WITHOUT_OVERLOAD,
} from '../../../tools/relay/process.ts'
import { trusting } from '../../../tools/tls/trusting.ts'

export { freePort, freeRange }

const ADMIN_TOKEN = 'a-long-random-value'
const ROOT_HOST = 'relay.localhost'
/** Milliseconds for the first address of a relay, which has it: on a slow machine Node would go on to the second too early. */
const FIRST_ADDRESS_MS = 10_000

export interface TestRelay {
  readonly port: number
  readonly origin: string
  readonly ca: string
  readonly caFile: string
  pid(): number
  /** Ends the process without a word. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Asks the API as its administrator. */
  call(path: string, body?: object): Promise<{ data?: never; error?: { code: string } }>
  close(): Promise<void>
}

/** @param onLog gets each line of the relay's log */
export async function startTestRelay(
  env: Record<string, string> = {},
  onLog: (line: string) => void = () => {},
): Promise<TestRelay> {
  const attemptMs = getDefaultAutoSelectFamilyAttemptTimeout()
  setDefaultAutoSelectFamilyAttemptTimeout(FIRST_ADDRESS_MS)
  const port = await freePort()
  const state = await mkdtemp(join(tmpdir(), 'svc-node-relay-'))
  const origin = `https://${ROOT_HOST}:${port}`
  const settings = {
    SVC_URL: origin,
    SNI_PORT: String(port),
    IDENTITY_PATH: state,
    ADMIN_TOKEN,
    ...BUDGETS_OF_MANY,
    ...env,
  }
  const options = { env: settings, onLog, execArgv: [...WITHOUT_OVERLOAD] }
  let relay: RelayProcess = await startRelay(options)
  const caFile = join(state, 'ca.pem')
  const ca = await readFile(caFile, 'utf8')
  return {
    port,
    origin,
    ca,
    caFile,
    pid: () => relay.pid,
    kill: async () => {
      process.kill(relay.pid, 'SIGKILL')
      await relay.ended
    },
    start: async () => {
      relay = await startRelay(options)
    },
    call: (path, body) => call(port, ca, path, body),
    close: async () => {
      setDefaultAutoSelectFamilyAttemptTimeout(attemptMs)
      await relay.stop()
      await rm(state, { recursive: true })
    },
  }
}

async function call(port: number, ca: string, path: string, body?: object): Promise<never> {
  const asked = request({
    host: '127.0.0.1',
    servername: ROOT_HOST,
    port,
    ...trusting(ca),
    path,
    method: body ? 'POST' : 'GET',
    headers: {
      Host: `${ROOT_HOST}:${port}`,
      Authorization: `Bearer ${ADMIN_TOKEN}`,
      'Content-Type': 'application/json',
    },
  })
  asked.end(body && JSON.stringify(body))
  const [response] = await once(asked, 'response')
  return JSON.parse(String(Buffer.concat(await response.toArray()))) as never
}
