// Collects the relay's load over the last minutes, while this tab is open.
import type { AdminLoadResponse } from '@svc/protocol'

/** Ten minutes at one sample every three seconds. */
const SAMPLES_MAX = 200
const SECOND_MS = 1000

/** The load at one moment. Unknown rates are null. */
export interface Sample {
  /** Seconds since the epoch. */
  time: number
  load: AdminLoadResponse
  receivedRate: number | null
  sentRate: number | null
}

export function addSample(
  samples: readonly Sample[],
  load: AdminLoadResponse,
  at: number,
): readonly Sample[] {
  const time = at / SECOND_MS
  const last = samples.at(-1)
  const rate = (key: 'visitor_received_bytes' | 'visitor_sent_bytes'): number | null => {
    // The relay counts from its start, so that fewer bytes mean a restart.
    if (last === undefined || time <= last.time || load[key] < last.load[key]) return null
    return (load[key] - last.load[key]) / (time - last.time)
  }
  const sample = {
    time,
    load,
    receivedRate: rate('visitor_received_bytes'),
    sentRate: rate('visitor_sent_bytes'),
  }
  return [...samples, sample].slice(-SAMPLES_MAX)
}
