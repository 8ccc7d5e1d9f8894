// Messages between the parent and its client processes.

/** A part of the sites, or of their visitors, for one process. */
export interface Share {
  url: string
  ca: string
  /** Where its connections come from: a loopback address of its own has ports of its own, and is a network of its own. */
  localAddress: string
  /** The first of its numbers. */
  first: number
  count: number
  /** As many as the relay has; visitors go around them. */
  sites: number
  /** Of the sites, those from here on have a lease and no connection. */
  connected: number
  /** The begin of their names, of four letters. */
  prefix: string
}

export interface Done {
  /** Milliseconds that each took, sorted. */
  times: number[]
}

const DIGITS = 6

/** All names are equally long. */
export function nameOf(prefix: string, site: number): string {
  return `${prefix}-${String(site).padStart(DIGITS, '0')}`
}

/** Runs `work` for each number of a share, this many at once, and tells the parent when all is done. */
export async function workThrough(
  { first, count }: Share,
  atOnce: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  const times: number[] = []
  let next = first
  const run = async (): Promise<void> => {
    while (next < first + count) {
      const start = performance.now()
      await work(next++)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  process.send!({ times: times.sort((a, b) => a - b) } satisfies Done)
}
