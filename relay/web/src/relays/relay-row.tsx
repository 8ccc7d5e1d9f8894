// Shows one relay of the list. Its descriptor is shown as text only.
import { formatAgo, formatTime } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { RELAYS } from '../texts/relays.ts'
import type { ListedRelay } from './listed-relays.ts'
import type { RoundTrip } from './round-trips.ts'

interface RelayRowProps {
  relay: ListedRelay
  /** Undefined while it is measured. */
  roundTrip: RoundTrip | undefined
  /** True for the relay that serves the page. */
  isHere: boolean
}

export function RelayRow({
  relay: { descriptor, origin, release },
  roundTrip,
  isHere,
}: RelayRowProps): VNode {
  const { address, issued_at, expires_at, supports_udp, supports_tcp, supports_overlay } = descriptor
  const { features } = RELAYS
  const supported = [
    features.https,
    ...(supports_udp ? [features.udp] : []),
    ...(supports_tcp ? [features.tcp] : []),
    ...(supports_overlay ? [features.overlay] : []),
  ]
  return (
    <article class="relay">
      <h2>
        <a href={`${origin}/`} target="_blank" rel="noopener noreferrer ugc">
          {origin}
        </a>
      </h2>
      <Distance roundTrip={roundTrip} />
      <p class="quiet release">
        <bdi>{release === '' ? RELAYS.noRelease : RELAYS.release(release)}</bdi>
        {isHere && ` · ${RELAYS.here}`}
      </p>
      <dl class="fields">
        <div>
          <dt>{RELAYS.supports}</dt>
          <dd>{supported.join(', ')}</dd>
        </div>
        <div>
          <dt>{RELAYS.signedBy}</dt>
          <dd>
            <code>{address}</code>
          </dd>
        </div>
        <Time name={RELAYS.signedAt} time={issued_at} />
        <Time name={RELAYS.expires} time={expires_at} />
      </dl>
    </article>
  )
}

function Time({ name, time }: { name: string; time: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <time dateTime={time} title={formatAgo(time)}>
          {formatTime(time)}
        </time>
      </dd>
    </div>
  )
}

function Distance({ roundTrip }: { roundTrip: RoundTrip | undefined }): VNode {
  if (roundTrip === undefined) return <span class="state">{RELAYS.measuring}</span>
  if (roundTrip === 'unmeasured')
    return (
      <span class="state" title={RELAYS.unmeasuredTitle}>
        {RELAYS.unmeasured}
      </span>
    )
  const isSilent = roundTrip === 'silent'
  return (
    <span
      class="state"
      data-state={isSilent ? 'wrong' : 'online'}
      title={isSilent ? RELAYS.silentTitle : RELAYS.answersTitle}
    >
      {isSilent ? RELAYS.silent : RELAYS.answers(roundTrip)}
    </span>
  )
}
