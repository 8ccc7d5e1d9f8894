// The history of a site: registrations, and decisions with who made them.
import type { LeaseEvent } from '@svc/protocol'
import { formatAgo, formatTime } from '../../common/format.ts'
import { sanitizeText } from '../../common/sanitize-text.ts'
import type { VNode } from '../../preact.ts'
import { EVENTS } from '../../texts/admin.ts'
import { termsText } from '../ban-dialog.tsx'
import { limitOf } from '../limit-text.ts'

export function SiteEvents({ events }: { events: readonly LeaseEvent[] }): VNode {
  return (
    <section class="card" aria-labelledby="events-heading">
      <h2 id="events-heading">{EVENTS.title}</h2>
      {events.length === 0 ? (
        <p class="quiet">{EVENTS.none}</p>
      ) : (
        <ol class="lines">
          {events.map((event) => (
            <li key={`${event.at} ${event.kind}`}>
              <bdi>{eventText(event)}</bdi>
              <time class="quiet" dateTime={event.at} title={formatTime(event.at)}>
                {formatAgo(event.at)}
              </time>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

/** One line about the event. */
function eventText({ kind, by, client_ip, end, reason, until, bps }: LeaseEvent): string {
  const terms = termsText({ ...(reason !== undefined && { reason }), ...(until !== undefined && { until }) })
  const more = [
    client_ip === undefined ? '' : EVENTS.from(client_ip),
    end === undefined ? '' : EVENTS.ends[end],
    terms,
    bps === undefined ? '' : limitOf(bps),
    by === undefined ? '' : EVENTS.by(by),
  ].filter(Boolean)
  // A later relay may have others.
  const what = EVENTS.kinds[kind] ?? kind
  return sanitizeText([what, ...more].join(' · '))
}
