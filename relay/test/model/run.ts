// Runs random sequences of commands against the model and the real parts, each from a fresh start.

import fc from '../../../tools/fast-check.ts'
import { stopClock } from './clock.ts'
import { commands, Real } from './commands.ts'
import { Model } from './model.ts'
import { createSystem } from './system.ts'

const BEGIN: number = Date.UTC(2026, 0, 1)
const COMMANDS_MAX = 60

/** @throws Error that shows the shortest sequence that fails, and the seed that repeats it */
export async function runModel(runs: number, seed: number): Promise<void> {
  const property = fc.asyncProperty(commands(COMMANDS_MAX), async (sequence) => {
    const clock = stopClock(BEGIN)
    const system = await createSystem()
    try {
      await fc.asyncModelRun(() => ({ model: new Model(BEGIN), real: new Real(system, clock) }), sequence)
    } finally {
      await system.close()
      clock.restore()
    }
  })
  await fc.assert(property, { numRuns: runs, seed })
}
