// The list of relays: those that this relay knows, with their round trips, and those of other protocol versions.

import { type DiscoveryResponse, PATH } from '@svc/protocol'
import { callApi } from '../common/api.ts'
import { formatAgo } from '../common/format.ts'
import { usePoll } from '../common/poll.ts'
import { sanitizeText } from '../common/sanitize-text.ts'
import { useStore } from '../common/store.ts'
import { useEffect, useMemo, useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'
import { RELAYS } from '../texts/relays.ts'
import { listedRelays } from './listed-relays.ts'
import { RelayRow } from './relay-row.tsx'
import { RoundTrips } from './round-trips.ts'

/** The number of relays shown and measured at first, and with each "Show more". */
const RELAYS_PER_STEP = 20
/** The interval between loads of the list, in milliseconds: relays themselves poll each other every two minutes. */
const POLL_MS = 30_000

const load = (): Promise<DiscoveryResponse> => callApi<DiscoveryResponse>(PATH.discovery)

export function Relays(): VNode {
  const { data, error } = usePoll(load, POLL_MS)
  const [steps, setSteps] = useState(1)
  const relays = useMemo(() => (data === undefined ? [] : listedRelays(data)), [data])
  const shown = relays.slice(0, steps * RELAYS_PER_STEP)
  const more = Math.min(relays.length - shown.length, RELAYS_PER_STEP)
  const roundTrips = useRoundTrips(shown.map(({ origin }) => origin))
  const results = useStore(roundTrips.results)
  return (
    <main class="wide relays">
      <h1>{RELAYS.title}</h1>
      <p class="quiet">{RELAYS.lead}</p>
      {error !== undefined && (
        <p class="notice" role="alert">
          {error.code === 'feature_unavailable' ? RELAYS.off : COMMON.unreachable}
        </p>
      )}
      <div class="heading">
        <output class="quiet">{data === undefined ? COMMON.loading : RELAYS.count(relays.length)}</output>
        <button type="button" class="plain" onClick={() => roundTrips.repeat()}>
          {RELAYS.again}
        </button>
      </div>
      <ul class="relays-list" aria-label={RELAYS.list}>
        {shown.map((relay, index) => (
          <li key={relay.origin}>
            <RelayRow relay={relay} roundTrip={results.get(relay.origin)} isHere={index === 0} />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button type="button" class="plain" onClick={() => setSteps(steps + 1)}>
          {RELAYS.more(more)}
        </button>
      )}
      {data !== undefined && <IncompatibleRelays relays={data.incompatible_relays} />}
    </main>
  )
}

function useRoundTrips(origins: readonly string[]): RoundTrips {
  const roundTrips = useMemo(
    () => new RoundTrips(new Worker(new URL('./relay-probe.ts', import.meta.url), { type: 'module' })),
    [],
  )
  useEffect(() => () => roundTrips.close(), [roundTrips])
  const key = origins.join('\n')
  useEffect(() => roundTrips.measure(origins), [roundTrips, key])
  return roundTrips
}

/** Lists the relays of other protocol versions, for people who wonder why one is not used. */
function IncompatibleRelays({ relays }: { relays: DiscoveryResponse['incompatible_relays'] }): VNode | null {
  if (relays.length === 0) return null
  return (
    <section class="card" aria-labelledby="incompatible-heading">
      <h2 id="incompatible-heading">{RELAYS.incompatible}</h2>
      <p class="quiet">{RELAYS.incompatibleAbout}</p>
      <ul class="lines">
        {relays.map(({ url, protocol_version, last_seen_at }) => (
          <li key={url}>
            <bdi>{sanitizeText(url)}</bdi>
            <bdi class="quiet">{RELAYS.version(sanitizeText(protocol_version), formatAgo(last_seen_at))}</bdi>
          </li>
        ))}
      </ul>
    </section>
  )
}
