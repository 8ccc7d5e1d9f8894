// Fuzz target: histories of several machines that fail, for the time that the options say.

import { runMachines } from '../model/machines.ts'

export async function fuzz(seconds: number, seed: number): Promise<{ runs: number }> {
  const end = performance.now() + seconds * 1000
  let runs = 0
  while (performance.now() < end) {
    // fast-check takes seeds of 32 bits with a sign.
    await runMachines(1, (seed + runs) | 0)
    runs += 1
  }
  return { runs }
}
