// The tests of the Node SDK, and with them the relay, on the oldest Node that is supported, and those of everything in the
// relay that leans on Node's internals: `npm run test:node24 [-- FILTER…]`. That Node comes from npm, into a folder that is kept.
import path from 'node:path'
import { runCommand } from '../tools/programs/command.ts'
import { ensureNode, OLDEST_NODE } from '../tools/programs/node-version.ts'
import { ensureServices } from '../tools/programs/services.ts'

const TESTS_TIMEOUT_MS: number = 10 * 60_000
const TESTS = ['sdk-node/', 'relay/test/node-internals/']

const node = installed()
ensureServices()
const filters = process.argv.slice(2)
const command = [node, 'node_modules/vitest/vitest.mjs', 'run', ...(filters.length > 0 ? filters : TESTS)]
console.log(`On Node ${OLDEST_NODE}`)
// Tests start their relays, and `svc`, with the Node that they run on themselves.
const env = { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` }
const { ok, output } = await runCommand(command, { timeoutMs: TESTS_TIMEOUT_MS, env })
if (output !== '') console.error(output)
process.exitCode = ok ? 0 : 1

function installed(): string {
  try {
    return ensureNode(OLDEST_NODE)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
