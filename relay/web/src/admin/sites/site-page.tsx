// All about one site: facts, traffic of a day, history, and the decisions about it.
import '../../style/admin/site.css'
import { PATH, type PolicyLeaseResponse } from '@svc/protocol'
import { usePoll } from '../../common/poll.ts'
import type { VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import { SECTIONS, SITE, SITE_STATES } from '../../texts/admin.ts'
import { COMMON } from '../../texts/common.ts'
import { callAsAdmin } from '../admin-login.ts'
import { termsText } from '../ban-dialog.tsx'
import type { ChangeRequest } from '../change-request.ts'
import type { PageProps } from '../page-props.ts'
import { pathOf } from '../place.ts'
import { TrafficGraphs } from '../traffic-graphs.tsx'
import { knownSite } from './known-site.ts'
import { SiteActions } from './site-actions.tsx'
import { SiteEvents } from './site-events.tsx'
import { SiteFacts } from './site-facts.tsx'
import { siteUrl, stateColor, stateOf } from './site-state.ts'

const POLL_MS = 3000

export function SitePage(props: PageProps<'decisions'>): VNode {
  return <Site key={props.below} {...props} />
}

function Site({ view, below, act }: PageProps<'decisions'>): VNode {
  const path = `${PATH.policyLease}?identity_key=${encodeURIComponent(below)}`
  const { data: told, error, refresh } = usePoll(() => callAsAdmin<PolicyLeaseResponse>(path), POLL_MS)
  const data = told ?? knownSite(below, view.leases ?? [], view.decisions)
  const actHere = async (change: ChangeRequest): Promise<boolean> => {
    const isDone = await act(change)
    if (isDone) await refresh()
    return isDone
  }
  const [name = ''] = below.split(':')
  return (
    <>
      <p class="way">
        <Link to={pathOf('sites')}>{SECTIONS.sites}</Link> <span aria-hidden="true">/</span>
      </p>
      <div class="heading">
        <h1>{name}</h1>
        {data !== undefined && <State site={data} />}
      </div>
      {data === undefined ? (
        <p role="status" class="quiet">
          {error === undefined
            ? COMMON.loading
            : error.code === 'lease_not_found'
              ? SITE.unknown
              : error.message}
        </p>
      ) : (
        <>
          {data.ban !== undefined && (
            <p class="notice">
              {SITE.banned(data.ban.by)} <bdi>{termsText(data.ban)}</bdi>
            </p>
          )}
          <SiteFacts site={data} />
          {told !== undefined && (
            <>
              <section class="card" aria-labelledby="traffic-heading">
                <h2 id="traffic-heading">{SITE.traffic}</h2>
                <TrafficGraphs hours={told.hours} />
              </section>
              <SiteEvents events={told.events} />
            </>
          )}
          <SiteActions site={data} view={view} act={actHere} />
        </>
      )}
    </>
  )
}

function State({ site: { lease } }: { site: PolicyLeaseResponse }): VNode {
  if (lease === undefined) return <span class="state">{SITE.gone}</span>
  const state = stateOf(lease)
  return (
    <span class="row">
      <span class="state" data-state={stateColor(state)}>
        {SITE_STATES[state]}
      </span>
      <a class="button plain" href={siteUrl(lease.hostname)} target="_blank" rel="noopener noreferrer ugc">
        {SITE.visit}
      </a>
    </span>
  )
}
