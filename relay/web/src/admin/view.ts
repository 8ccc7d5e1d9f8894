// All that the administration shows, asked for together.
import {
  type AdminLoadResponse,
  PATH,
  type PolicyChange,
  type PolicyChangesResponse,
  type PolicyDecisionsResponse,
  type PolicyLease,
  type PolicySettings,
  type PolicyStateResponse,
} from '@svc/protocol'
import { isPublic } from '../shell/routes.ts'
import { asAdmin } from './session.ts'

export interface View {
  leases: readonly PolicyLease[]
  policy: PolicySettings
  decisions: PolicyDecisionsResponse
  /** The newest first. */
  changes: readonly PolicyChange[]
  load: AdminLoadResponse
  /** When it was so, in milliseconds since the epoch. */
  at: number
}

/** @throws ApiError */
export async function loadView(): Promise<View> {
  const [state, decisions, { changes }, load] = await Promise.all([
    asAdmin<PolicyStateResponse>(PATH.policyState),
    asAdmin<PolicyDecisionsResponse>(PATH.policyDecisions),
    asAdmin<PolicyChangesResponse>(PATH.policyChanges),
    asAdmin<AdminLoadResponse>(PATH.adminLoad),
  ])
  isPublic.set(state.policy.landing_page_enabled)
  return { ...state, decisions, changes, load, at: Date.now() }
}
