// Tells a linear cost from a quadratic one on a machine that is busy with other things.

const TIMES = 8

/**
 * How many times more `run` costs for eight times the size: about 8 when it is linear, 64 when it is quadratic. The least of
 * three comparisons, for other work may come between at any of them.
 */
export function growth(size: number, run: (size: number) => void): number {
  const best = (n: number) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const start = process.threadCpuUsage()
        run(n)
        const { user, system } = process.threadCpuUsage(start)
        return user + system
      }),
    )
  best(size)
  return Math.min(...Array.from({ length: 3 }, () => best(TIMES * size) / best(size)))
}

/** Between the two, nearer to the quadratic one: small sizes suffer most from noise. */
export const LINEAR_GROWTH_MAX = 32
