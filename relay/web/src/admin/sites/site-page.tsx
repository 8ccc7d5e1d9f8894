// All about one site: facts, and the decisions about it.
import '../../style/admin/site.css'
import type { PolicyLeaseResponse } from '@svc/protocol'
import type { VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import { SECTIONS, SITE, SITE_STATES } from '../../texts/admin.ts'
import { termsText } from '../ban-dialog.tsx'
import type { PageProps } from '../page-props.ts'
import { pathOf } from '../place.ts'
import { knownSite } from './known-site.ts'
import { SiteActions } from './site-actions.tsx'
import { SiteFacts } from './site-facts.tsx'
import { siteUrl, stateColor, stateOf } from './site-state.ts'

export function SitePage({ view, below, act }: PageProps<'leases' | 'decisions'>): VNode {
  const data = knownSite(below, view.leases, view.decisions)
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
        <p class="quiet">{SITE.unknown}</p>
      ) : (
        <>
          {data.ban !== undefined && (
            <p class="notice">
              {SITE.banned(data.ban.by)} <bdi>{termsText(data.ban)}</bdi>
            </p>
          )}
          <SiteFacts site={data} />
          <SiteActions site={data} view={view} act={act} />
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
