// What is too long for each change: `npm run nightly` compares `expose` with HAProxy over bodies of 2 GiB, long polls and events.
import { runCommand } from '../tools/programs/command.ts'
import { ensureHaproxy, findHaproxy } from '../tools/programs/haproxy.ts'

const TIMEOUT_MS: number = 2 * 60 * 60_000
const TESTS = ['beside-haproxy', 'long-beside-haproxy'].map((name) => `sdk-node/test/target/${name}.test.ts`)

ensureHaproxy()
// The tests would be skipped.
if (findHaproxy() === undefined) process.exit(1)
const command = ['vitest', 'run', '--project', 'node*', '--reporter=verbose', ...TESTS]
const { ok } = await runCommand(command, { timeoutMs: TIMEOUT_MS, env: { TEST_DEPTH: 'whole' } })
process.exitCode = ok ? 0 : 1
