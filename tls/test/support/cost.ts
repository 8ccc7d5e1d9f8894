// Tells a linear cost from a quadratic one on a machine that is busy with other things.

const TIMES = 8

/** Between the two, nearer to the quadratic one: small sizes suffer most from noise. */
export const LINEAR_GROWTH_MAX = 32
/** Other work may come between at any of them; what is quadratic is so at each. */
const COMPARISONS_MAX = 12

/** How many times more `run` costs for eight times the size: about 8 when it is linear, 64 when it is quadratic. */
export function growth(size: number, run: (size: number) => void): number {
  const best = (n: number) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const start = performance.now()
        run(n)
        return performance.now() - start
      }),
    )
  best(size)
  let least = Number.POSITIVE_INFINITY
  for (let at = 0; at < COMPARISONS_MAX && least >= LINEAR_GROWTH_MAX; at++)
    least = Math.min(least, best(TIMES * size) / best(size))
  return least
}
