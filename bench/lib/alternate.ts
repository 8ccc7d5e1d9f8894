// Runs measurements in turn, so that what else the machine does hits all of them, and takes each one's median.

/** Measures one value, in the unit of its entry. */
export type Measure = () => number | Promise<number>

/** Several values of one run, by what they are. */
export type MeasureAll<Figure extends string> = () => Promise<Record<Figure, number>>

export async function alternate<Name extends string>(
  runs: number,
  measures: Record<Name, Measure>,
): Promise<Record<Name, number>> {
  const one = (measure: Measure) => async () => ({ value: await measure() })
  const medians = await alternateAll(runs, mapValues(measures, one))
  return mapValues(medians, ({ value }) => value)
}

export async function alternateAll<Name extends string, Figure extends string>(
  runs: number,
  measures: Record<Name, MeasureAll<Figure>>,
): Promise<Record<Name, Record<Figure, number>>> {
  const names = Object.keys(measures) as Name[]
  const seen = mapValues(measures, (): Record<Figure, number>[] => [])
  for (const name of names) await measures[name]() // warms up caches and compilers
  for (let run = 0; run < runs; run++) {
    // The order within a pair changes, too.
    const order = run % 2 === 0 ? names : names.toReversed()
    for (const name of order) seen[name].push(await measures[name]())
  }
  return mapValues(seen, (values) =>
    mapValues(values[0]!, (_, figure) => median(values.map((value) => value[figure]))),
  )
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function mapValues<Name extends string, From, To>(
  record: Record<Name, From>,
  map: (value: From, name: Name) => To,
): Record<Name, To> {
  const entries = Object.entries(record) as [Name, From][]
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)])) as Record<Name, To>
}
