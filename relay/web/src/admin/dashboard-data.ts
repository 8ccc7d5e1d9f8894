// Loads all data of the dashboard together.
import {
  type AdminCacheResponse,
  type AdminCertificatesResponse,
  type AdministratorsResponse,
  type AdminLoadResponse,
  type AdminPaymentsResponse,
  type EnsStatus,
  type HeldCertificates,
  type Invitation,
  type InvitationsResponse,
  PATH,
  type PinnedNamesResponse,
  type PolicyChange,
  type PolicyChangesResponse,
  type PolicyDecisionsResponse,
  type PolicyLease,
  type PolicySettings,
  type PolicyStateResponse,
} from '@svc/protocol'
import { loadEns } from '../common/ens.ts'
import { loadPages, uniqueBy } from '../common/load-pages.ts'
import { hasPublicPages } from '../shell/routes.ts'
import { callAsAdmin } from './admin-login.ts'

export interface DashboardData {
  leases: readonly PolicyLease[]
  policy: PolicySettings
  decisions: PolicyDecisionsResponse
  invitations: readonly Invitation[]
  administrators: AdministratorsResponse['administrators']
  /** Maps each pinned name to the address of its owner. */
  pinned: PinnedNamesResponse['pinned']
  /** The newest first. */
  changes: readonly PolicyChange[]
  load: AdminLoadResponse
  /** Undefined when the relay does not manage DNS records. */
  ens: EnsStatus | undefined
  certificates: readonly HeldCertificates[]
  /** Undefined when the static cache is off. */
  cache: AdminCacheResponse | undefined
  /** Undefined when the relay settles no payments. */
  payments: AdminPaymentsResponse | undefined
  /** Time of the data in milliseconds since the epoch. */
  at: number
}

/** @throws ApiError */
export async function loadDashboard(): Promise<DashboardData> {
  // Alone and first, because it shows whether the relay still accepts the token: several refusals at once would count as guesses.
  const load = await callAsAdmin<AdminLoadResponse>(PATH.adminLoad)
  const [states, decisions, registration, { changes }, { certificates }, cache, payments, ens] =
    await Promise.all([
      loadPages<PolicyStateResponse>(PATH.policyState, callAsAdmin),
      loadPages<PolicyDecisionsResponse>(PATH.policyDecisions, callAsAdmin),
      loadRegistration(),
      callAsAdmin<PolicyChangesResponse>(PATH.policyChanges),
      callAsAdmin<AdminCertificatesResponse>(PATH.adminCertificates),
      callAsAdmin<AdminCacheResponse>(PATH.adminCache),
      callAsAdmin<AdminPaymentsResponse>(PATH.adminPayments),
      // DNS is only one card, so the dashboard works without it.
      loadEns().catch(() => undefined),
    ])
  const [{ policy }] = states
  const leases = uniqueBy(
    states.flatMap((state) => state.leases),
    ({ identity_key }) => identity_key,
  )
  hasPublicPages.set(policy.landing_page_enabled)
  return {
    policy,
    leases,
    decisions: joined(decisions),
    ...registration,
    changes,
    load,
    certificates,
    cache: cache.max_bytes > 0 ? cache : undefined,
    payments: payments.enabled ? payments : undefined,
    ens: ens?.provider ? ens : undefined,
    at: Date.now(),
  }
}

async function loadRegistration(): Promise<Pick<DashboardData, 'invitations' | 'administrators' | 'pinned'>> {
  const [invitations, administrators, names] = await Promise.all([
    callAsAdmin<InvitationsResponse>(PATH.policyInvitations),
    callAsAdmin<AdministratorsResponse>(PATH.administrators),
    callAsAdmin<PinnedNamesResponse>(PATH.policyNames),
  ])
  return { ...invitations, ...administrators, ...names }
}

function joined(pages: readonly PolicyDecisionsResponse[]): PolicyDecisionsResponse {
  return {
    approved: pages.flatMap(({ approved }) => approved),
    denied: pages.flatMap(({ denied }) => denied),
    banned: pages.flatMap(({ banned }) => banned),
    banned_ips: pages.flatMap(({ banned_ips }) => banned_ips),
    banned_relays: pages.flatMap(({ banned_relays }) => banned_relays),
    banned_domains: pages.flatMap(({ banned_domains }) => banned_domains),
    bps: Object.assign({}, ...pages.map(({ bps }) => bps)),
  }
}
