// Fuzz target: histories of several machines that fail, for the time that the options say.

import { runMachines } from '../model/machines.ts'

export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  let runs = 0
  while (goesOn(runs)) {
    // fast-check takes seeds of 32 bits with a sign.
    await runMachines(1, (seed + runs) | 0)
    runs += 1
  }
  return { runs }
}
