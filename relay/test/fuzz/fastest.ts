// How long something takes, on a machine that does other things as well.

const ATTEMPTS = 4

/** @returns milliseconds of the first run that was within `most`, else of the fastest of several: the others were disturbed */
export function fastest(run: () => void, most: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && best > most; attempt++) {
    const start = performance.now()
    run()
    best = Math.min(best, performance.now() - start)
  }
  return best
}
