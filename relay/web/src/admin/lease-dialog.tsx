// Shows one lease in a dialog: its fields and the decisions about it.
import type { PolicyLease } from '@svc/protocol'
import { Modal } from '../common/modal.tsx'
import { useState, type VNode } from '../preact.ts'
import { LEASES } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import type { ChangeRequest } from './change-request.ts'
import type { DashboardData } from './dashboard-data.ts'
import { LeaseActions } from './lease-actions.tsx'
import { LeaseFields } from './lease-fields.tsx'

interface LeaseDialogProps {
  /** The lease when the dialog opened, which the dialog shows after the lease ended. */
  opened: PolicyLease
  view: DashboardData
  act(change: ChangeRequest): Promise<void>
  onClose(): void
}

export function LeaseDialog({ opened, view, act, onClose }: LeaseDialogProps): VNode {
  const now = view.leases.find(({ identity_key }) => identity_key === opened.identity_key)
  const [last, setLast] = useState(opened)
  if (now !== undefined && now !== last) setLast(now)
  const lease = now ?? last
  return (
    <Modal title={LEASES.details(lease.name)} onClose={onClose}>
      {now === undefined && <p class="notice">{LEASES.ended}</p>}
      <LeaseActions lease={lease} view={view} act={act} />
      <LeaseFields lease={lease} />
      <div class="row end">
        <button type="button" class="plain" onClick={onClose}>
          {COMMON.close}
        </button>
      </div>
    </Modal>
  )
}
