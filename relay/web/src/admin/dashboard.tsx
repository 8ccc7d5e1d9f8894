// Shows the dashboard. It reloads its data regularly, so that administrators see each other's changes.
import { usePoll } from '../common/poll.ts'
import type { VNode } from '../preact.ts'
import { DASHBOARD } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import { logout } from './admin-login.ts'
import { applyChange } from './apply-change.ts'
import { CertificatesCard } from './certificates-card.tsx'
import { ChangeHistory, LastChangeMessage } from './change-history.tsx'
import type { ChangeRequest } from './change-request.ts'
import { Confirm } from './confirm.tsx'
import { loadDashboard } from './dashboard-data.ts'
import { IpBansCard, OfflineDecisionsCard } from './decisions-card.tsx'
import { DnsCard } from './dns-card.tsx'
import { LeasesCard } from './leases-card.tsx'
import { LoadCard } from './load-card.tsx'
import { SettingsCard } from './settings-card.tsx'

const POLL_MS = 3000

export function Dashboard(): VNode {
  const { data, error, refresh } = usePoll(loadDashboard, POLL_MS)
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
          <LoadCard {...data} />
          <LeasesCard view={data} act={act} />
          <CertificatesCard {...data} />
          <IpBansCard view={data} act={act} />
          <OfflineDecisionsCard view={data} act={act} />
          {data.ens !== undefined && <DnsCard ens={data.ens} />}
          <SettingsCard view={data} act={act} />
          <ChangeHistory changes={data.changes} refresh={refresh} />
        </>
      )}
      <LastChangeMessage refresh={refresh} />
      <Confirm />
    </main>
  )
}
