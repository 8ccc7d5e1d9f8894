// The administration as a whole. It is asked for again and again, so that two administrators see each other's changes.
import { usePoll } from '../common/poll.ts'
import type { VNode } from '../preact.ts'
import { DASHBOARD } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import type { Change } from './change.ts'
import { Confirm } from './confirm.tsx'
import { AbsentCard, IpBansCard } from './decisions-card.tsx'
import { LeasesCard } from './leases-card.tsx'
import { LoadCard } from './load-card.tsx'
import { make } from './log.ts'
import { LogList, LogMessage } from './log-list.tsx'
import { logout } from './session.ts'
import { SettingsCard } from './settings-card.tsx'
import { loadView } from './view.ts'

const POLL_MS = 3000

export function Dashboard(): VNode {
  const { data, error, refresh } = usePoll(loadView, POLL_MS)
  const act = async (change: Change): Promise<void> => {
    if (await make(change)) await refresh()
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
          <IpBansCard view={data} act={act} />
          <AbsentCard view={data} act={act} />
          <SettingsCard view={data} act={act} />
          <LogList changes={data.changes} refresh={refresh} />
        </>
      )}
      <LogMessage refresh={refresh} />
      <Confirm />
    </main>
  )
}
