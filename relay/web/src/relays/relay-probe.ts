// A worker that measures relays. Its script has a separate CSP, which allows requests to other origins; pages may not make them.
import { measureRoundTrip } from './round-trip.ts'

/** The result for a posted origin; without `ms`, no relay answered there. */
export interface ProbeAnswer {
  origin: string
  ms: number | undefined
}

addEventListener('message', async ({ data: origin }: MessageEvent<string>) => {
  const ms = await measureRoundTrip(origin).catch(() => undefined)
  postMessage({ origin, ms } satisfies ProbeAnswer)
})
