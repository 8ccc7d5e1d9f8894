// Who may be here: sites that wait for approval, bans, invitations and names, each a page of its own.
import type { VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import { ACCESS } from '../../texts/admin.ts'
import type { PageProps } from '../page-props.ts'
import { pathOf } from '../place.ts'
import { ApprovalQueue } from './approval-queue.tsx'
import { IpBansCard, OfflineDecisionsCard, SiteBansCard } from './bans-card.tsx'
import { InvitationsCard } from './invitations-card.tsx'
import { PinnedNamesCard } from './pinned-names-card.tsx'
import { ReservedNamesCard } from './reserved-names-card.tsx'

type Props = PageProps<'leases' | 'decisions' | 'invitations' | 'pinned'>

const PARTS = Object.entries(ACCESS.parts) as [keyof typeof ACCESS.parts, string][]

export function AccessPage(props: Props): VNode {
  const { below } = props
  return (
    <>
      <h1>{ACCESS.title}</h1>
      <nav class="parts" aria-label={ACCESS.title}>
        {PARTS.map(([part, name]) => (
          <Link
            key={part}
            to={pathOf('access', part === 'waiting' ? '' : part)}
            isCurrent={below === idOf(part)}
          >
            {name}
          </Link>
        ))}
      </nav>
      <Part {...props} />
    </>
  )
}

function idOf(part: string): string {
  return part === 'waiting' ? '' : part
}

function Part(props: Props): VNode {
  const { view, below, act, refresh } = props
  if (below === 'bans')
    return (
      <>
        <SiteBansCard view={view} act={act} />
        <IpBansCard view={view} act={act} />
        <OfflineDecisionsCard view={view} act={act} />
      </>
    )
  if (below === 'invitations') return <InvitationsCard {...view} refresh={refresh} />
  if (below === 'names')
    return (
      <>
        <ReservedNamesCard policy={view.policy} act={act} />
        <PinnedNamesCard pinned={view.pinned} act={act} />
      </>
    )
  return <ApprovalQueue view={view} act={act} />
}
