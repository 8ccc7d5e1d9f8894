// Shows the dashboard. It reloads its data regularly, so that administrators see each other's changes.

import { Confirm } from '../common/confirm.tsx'
import { hasDiscovery } from '../common/offers.ts'
import { usePoll } from '../common/poll.ts'
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { DASHBOARD } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import { logout } from './admin-login.ts'
import { AdministratorsCard } from './administrators-card.tsx'
import { applyChange } from './apply-change.ts'
import { CertificatesCard } from './certificates-card.tsx'
import { ChangeHistory, LastChangeMessage } from './change-history.tsx'
import type { ChangeRequest } from './change-request.ts'
import { loadDashboard } from './dashboard-data.ts'
import { DomainBansCard, IpBansCard, OfflineDecisionsCard, RelayBansCard } from './decisions-card.tsx'
import { DnsCard } from './dns-card.tsx'
import { InvitationsCard } from './invitations-card.tsx'
import { LeasesCard } from './leases-card.tsx'
import { LoadCard } from './load-card.tsx'
import { MachinesCard, RedisNotice } from './machines-card.tsx'
import { PaymentsCard } from './payments-card.tsx'
import { PinnedNamesCard } from './pinned-names-card.tsx'
import { SettingsCard } from './settings-card.tsx'
import { StoredSitesCard } from './stored-sites-card.tsx'

const POLL_MS = 3000

export function Dashboard(): VNode {
  const { data, error, refresh } = usePoll(loadDashboard, POLL_MS)
  const isDiscovering = useStore(hasDiscovery)
  const act = async (change: ChangeRequest): Promise<void> => {
    if (await applyChange(change)) await refresh()
  }
  return (
    <main class="wide admin">
      <div class="heading">
        <h1>{DASHBOARD.title}</h1>
        <button type="button" class="plain" onClick={() => logout('')}>
          {DASHBOARD.logout}
        </button>
      </div>
      {error !== undefined && !error.isUnauthorized && (
        <p class="notice" role="alert">
          {COMMON.unreachable}
        </p>
      )}
      {data === undefined ? (
        <p role="status" class="quiet">
          {COMMON.loading}
        </p>
      ) : (
        <>
          {data.load.redis === 'down' && <RedisNotice />}
          <LoadCard {...data} />
          {data.load.machines !== undefined && <MachinesCard machines={data.load.machines} />}
          <LeasesCard view={data} act={act} />
          <CertificatesCard {...data} />
          {data.cache !== undefined && (
            <StoredSitesCard cache={data.cache} decisions={data.decisions} act={act} />
          )}
          {data.payments !== undefined && <PaymentsCard payments={data.payments} />}
          <IpBansCard view={data} act={act} />
          {(isDiscovering || data.decisions.banned_relays.length > 0) && (
            <RelayBansCard view={data} act={act} />
          )}
          {(data.leases.some(({ custom_domains }) => custom_domains !== undefined) ||
            data.decisions.banned_domains.length > 0) && <DomainBansCard view={data} act={act} />}
          <OfflineDecisionsCard view={data} act={act} />
          {data.ens !== undefined && <DnsCard ens={data.ens} />}
          <InvitationsCard {...data} refresh={refresh} />
          <PinnedNamesCard {...data} act={act} />
          <SettingsCard view={data} act={act} />
          <AdministratorsCard {...data} refresh={refresh} />
          <ChangeHistory changes={data.changes} refresh={refresh} />
        </>
      )}
      <LastChangeMessage refresh={refresh} />
      <Confirm />
    </main>
  )
}
