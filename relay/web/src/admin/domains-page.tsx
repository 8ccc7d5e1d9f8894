// The custom domains of the sites that have a lease, and the domains that are banned.
import type { VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { DOMAINS, SECTIONS } from '../texts/admin.ts'
import { DomainBansCard } from './access/bans-card.tsx'
import type { PageProps } from './page-props.ts'
import { sitePath } from './place.ts'

const COLORS = { active: 'online', pending: 'waiting', refused: 'wrong' } as const

export function DomainsPage({ view, act }: PageProps<'leases' | 'decisions'>): VNode {
  const domains = view.leases
    .flatMap(({ custom_domains = [], identity_key, name }) =>
      custom_domains.map((one) => ({ ...one, identity_key, name })),
    )
    .sort((a, b) => (a.domain < b.domain ? -1 : 1))
  return (
    <>
      <h1>{SECTIONS.domains}</h1>
      <section class="card" aria-labelledby="domains-heading">
        <h2 id="domains-heading">{DOMAINS.title}</h2>
        <p class="quiet">{domains.length === 0 ? DOMAINS.none : DOMAINS.about}</p>
        {domains.length > 0 && (
          <ul class="lines">
            {domains.map(({ domain, state, reason, identity_key, name }) => (
              <li key={`${domain} ${identity_key}`}>
                <span>
                  {domain}{' '}
                  <small class="quiet">
                    <Link to={sitePath(identity_key)}>{name}</Link>
                    {reason !== undefined && <bdi> · {reason}</bdi>}
                  </small>
                </span>
                <span class="state" data-state={COLORS[state]}>
                  {DOMAINS.states[state]}
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <DomainBansCard view={view} act={act} />
    </>
  )
}
