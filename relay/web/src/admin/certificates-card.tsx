// Shows the relay's certificates, their expiry, and why the last order failed.
import type { HeldCertificates } from '@svc/protocol'
import { formatAgo, formatTime } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { CERTIFICATES, SECTIONS } from '../texts/admin.ts'
import type { PageProps } from './page-props.ts'

/** Names that a line shows; a certificate may have a hundred. */
const NAMES_MAX = 4

export function CertificatesPage({ view: { certificates } }: PageProps<'certificates'>): VNode {
  return (
    <>
      <h1>{SECTIONS.certificates}</h1>
      <section class="card" aria-labelledby="certificates-heading">
        <h2 id="certificates-heading">{CERTIFICATES.title}</h2>
        <p class="quiet">{CERTIFICATES.about}</p>
        <ul class="lines">
          {certificates.map((held) => (
            <Line key={held.host_kind} held={held} />
          ))}
        </ul>
      </section>
    </>
  )
}

function Line({ held }: { held: HeldCertificates }): VNode {
  const { host_kind, count, names, not_after, last_error, last_error_at } = held
  const shown = names.slice(0, NAMES_MAX).join(', ')
  return (
    <li>
      <span>
        {CERTIFICATES.hosts[host_kind](count)}
        {shown !== '' && <bdi class="quiet"> {names.length > NAMES_MAX ? `${shown} …` : shown}</bdi>}
        {last_error !== '' && (
          <small class="wrong">
            {CERTIFICATES.failed(formatAgo(last_error_at))} <bdi>{last_error}</bdi>
          </small>
        )}
      </span>
      {not_after === '' ? (
        <span class="quiet">{CERTIFICATES.none}</span>
      ) : (
        <time class="quiet" dateTime={not_after} title={formatTime(not_after)}>
          {CERTIFICATES.ends(formatAgo(not_after))}
        </time>
      )}
    </li>
  )
}
