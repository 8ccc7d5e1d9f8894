// The end-to-end suite by itself: `npm run e2e [-- --machines N] [--update] [FILTER…]`. With N above 1, the relay of every test that
// needs none of a special kind is that many machines, which share a Redis, behind a load balancer.
// With --update, the pictures that pages are compared with are made anew.
import { parseArgs } from 'node:util'
import { ensureCertutil, ensureChromium } from '../tools/programs/chromium.ts'
import { runCommand } from '../tools/programs/command.ts'
import { findHaproxy } from '../tools/programs/haproxy.ts'
import { ensureServices, findRedis } from '../tools/programs/services.ts'

const MACHINES_MAX = 9
/** Tests side by side, each with several machines: the processes of more would only wait for each other. */
const WORKERS = 2
/** Longest that the suite may take, in milliseconds: they end what hangs, for a busy machine takes several times as long. */
const TIMEOUT_MS: number = 60 * 60_000
const TIMEOUT_OF_MACHINES_MS: number = 2 * TIMEOUT_MS

const { machines, filters, isUpdate } = readArguments() ?? usage()
const isOne = machines === 1
const timeoutMs = isOne ? TIMEOUT_MS : TIMEOUT_OF_MACHINES_MS
if (!isOne) requirePrograms()
ensureCertutil()
const env = {
  CHROMIUM_PATH: ensureChromium(),
  E2E_MACHINES: `${machines}`,
  ...(isUpdate && { TEST_DEPTH: 'whole' }),
}
const options = [
  `--global-timeout=${timeoutMs}`,
  ...(isOne ? [] : [`--workers=${WORKERS}`]),
  ...(isUpdate ? ['--update-snapshots=changed'] : []),
]
const { ok, output } = await runCommand(['playwright', 'test', ...options, ...filters], { timeoutMs, env })
if (output !== '') console.error(output)
process.exitCode = ok ? 0 : 1

interface Arguments {
  machines: number
  filters: string[]
  /** Whether the pictures that pages are compared with are made anew. */
  isUpdate: boolean
}

function requirePrograms(): void {
  ensureServices()
  if (findRedis() !== undefined && findHaproxy() !== undefined) return
  console.error('Several machines need redis-server and haproxy.')
  process.exit(1)
}

function readArguments(): Arguments | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        machines: { type: 'string', default: '1' },
        update: { type: 'boolean', default: false },
      },
    })
    const machines = Number(values.machines)
    const isCount = Number.isInteger(machines) && machines > 0 && machines <= MACHINES_MAX
    return isCount ? { machines, filters: positionals, isUpdate: values.update } : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error(`Usage: npm run e2e [-- --machines N] [--update] [FILTER…]; N from 1 to ${MACHINES_MAX}`)
  process.exit(2)
}
