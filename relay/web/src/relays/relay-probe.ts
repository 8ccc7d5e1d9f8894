// A worker that measures relays. The relay serves its script with a policy of its own: it may ask other origins, pages may not.
import { measureRoundTrip } from './round-trip.ts'

/** The answer to an origin that was posted; without `ms`, no relay answered there. */
export interface ProbeAnswer {
  origin: string
  ms: number | undefined
}

addEventListener('message', async ({ data: origin }: MessageEvent<string>) => {
  const ms = await measureRoundTrip(origin).catch(() => undefined)
  postMessage({ origin, ms } satisfies ProbeAnswer)
})
