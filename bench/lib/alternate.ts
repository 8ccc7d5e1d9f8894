// Runs measurements in turn, so that what else the machine does hits all of them, and takes each one's median.

/** One value, in the unit of its entry. */
export type Measure = () => number | Promise<number>

export async function alternate<Name extends string>(
  runs: number,
  measures: Record<Name, Measure>,
): Promise<Record<Name, number>> {
  const names = Object.keys(measures) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (const name of names) await measures[name]() // warms up caches and compilers
  for (let run = 0; run < runs; run++) {
    // Who goes first changes, too.
    const order = run % 2 === 0 ? names : names.toReversed()
    for (const name of order) values[name].push(await measures[name]())
  }
  return Object.fromEntries(names.map((name) => [name, median(values[name])])) as Record<Name, number>
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
