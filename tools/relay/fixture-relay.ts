// The relay of an end-to-end test that needs no relay of a special kind: one process, or with E2E_MACHINES as many machines.
import { startMachines } from './machines.ts'
import { startTestRelay, type TestRelay } from './test-relay.ts'

/** The number of machines that the relay of a fixture has: `npm run e2e -- --machines N` sets it. */
export const FIXTURE_MACHINES: number = Number(process.env.E2E_MACHINES || 1)

/** @param env settings, by their names in the environment; none of them may name a port, which machines cannot share here */
export async function startFixtureRelay(env: Record<string, string> = {}): Promise<TestRelay> {
  if (FIXTURE_MACHINES === 1) return startTestRelay({ env })
  const { url, caFile, machines, stop } = await startMachines({ count: FIXTURE_MACHINES, env })
  return {
    url,
    caFile,
    // A test that stops one process stops one of the machines.
    pid: machines[0]!.pid!,
    ended: machines[0]!.ended,
    exitCode: () => machines[0]!.exitCode(),
    stop,
  }
}
