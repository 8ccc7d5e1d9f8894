// Loads what a section of the administration shows, and keeps what others have loaded.
import {
  type AdminCacheResponse,
  type AdminCertificatesResponse,
  type AdministratorsResponse,
  type AdminLoadResponse,
  type AdminPaymentsResponse,
  type DomainResponse,
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
import { callApi } from '../common/api.ts'
import { loadPages, uniqueBy } from '../common/load-pages.ts'
import { hasPublicPages } from '../shell/routes.ts'
import { callAsAdmin } from './admin-login.ts'
import { joinDecisions } from './decisions.ts'

export interface Parts {
  load: AdminLoadResponse
  /** What the relay tells everybody: its extensions, its DNS. */
  relay: DomainResponse
  policy: PolicySettings
  leases: readonly PolicyLease[]
  decisions: PolicyDecisionsResponse
  invitations: readonly Invitation[]
  administrators: AdministratorsResponse['administrators']
  /** Maps each pinned name to the address of its owner. */
  pinned: PinnedNamesResponse['pinned']
  /** The newest first. */
  changes: readonly PolicyChange[]
  certificates: readonly HeldCertificates[]
  cache: AdminCacheResponse
  payments: AdminPaymentsResponse
  /** Time of the load in milliseconds since the epoch. */
  at: number
}

export type Part = keyof Parts

type Loaded<P extends Part> = Pick<Parts, P>

const LOADERS: { [P in Exclude<Part, 'load' | 'at' | 'leases'>]: () => Promise<Loaded<P>> } = {
  relay: async () => ({ relay: await callApi<DomainResponse>(PATH.domain) }),
  policy: async () => ({ policy: await callAsAdmin<PolicySettings>(PATH.policy) }),
  decisions: async () => ({
    decisions: joinDecisions(await loadPages<PolicyDecisionsResponse>(PATH.policyDecisions, callAsAdmin)),
  }),
  invitations: () => callAsAdmin<InvitationsResponse>(PATH.policyInvitations),
  administrators: () => callAsAdmin<AdministratorsResponse>(PATH.administrators),
  pinned: () => callAsAdmin<PinnedNamesResponse>(PATH.policyNames),
  changes: () => callAsAdmin<PolicyChangesResponse>(PATH.policyChanges),
  certificates: () => callAsAdmin<AdminCertificatesResponse>(PATH.adminCertificates),
  cache: async () => ({ cache: await callAsAdmin<AdminCacheResponse>(PATH.adminCache) }),
  payments: async () => ({ payments: await callAsAdmin<AdminPaymentsResponse>(PATH.adminPayments) }),
}

/** What says which features are on, and so which sections there are. */
const FEATURES = ['relay', 'cache', 'payments'] as const
/** A long list is asked for less often: after this many times as long as it took to load. */
const REST_FACTOR = 10

export class AdminData {
  readonly parts: Partial<Parts> = {}
  /** The time from which the list of leases is loaded again. */
  #leasesDue = 0

  /** Loads all of these parts, and those of which the navigation consists once. @throws ApiError */
  async load(needs: readonly Part[]): Promise<Partial<Parts>> {
    // Alone and first, because it shows whether the relay still accepts the token: several refusals at once would count as guesses.
    const load = await callAsAdmin<AdminLoadResponse>(PATH.adminLoad)
    const missing = FEATURES.filter((part) => this.parts[part] === undefined)
    const loaders = [...new Set<Part>(['policy', ...missing, ...needs])]
      .filter((part): part is keyof typeof LOADERS => part in LOADERS)
      .map((part) => LOADERS[part]())
    const loaded = await Promise.all([...loaders, ...(needs.includes('leases') ? [this.#leases()] : [])])
    Object.assign(this.parts, { load, at: Date.now() }, ...loaded)
    hasPublicPages.set(this.parts.policy?.landing_page_enabled ?? true)
    return { ...this.parts }
  }

  /** Lets the next load ask for everything. */
  expire(): void {
    this.#leasesDue = 0
  }

  async #leases(): Promise<Partial<Parts>> {
    const started = Date.now()
    if (started < this.#leasesDue) return {}
    const states = await loadPages<PolicyStateResponse>(PATH.policyState, callAsAdmin)
    const ended = Date.now()
    this.#leasesDue = ended + (ended - started) * REST_FACTOR
    const all = states.flatMap((state) => state.leases)
    return { leases: uniqueBy(all, ({ identity_key }) => identity_key) }
  }
}
