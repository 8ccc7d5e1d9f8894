// Fuzz target: histories of leases and policy against the model, for the time that the options say.

import { runModel } from './run.ts'

const RUNS_AT_A_TIME = 10

export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  let runs = 0
  while (goesOn(runs)) {
    // fast-check takes seeds of 32 bits with a sign.
    await runModel(RUNS_AT_A_TIME, (seed + runs) | 0)
    runs += RUNS_AT_A_TIME
  }
  return { runs }
}
