// Handles the administrator's endpoints: the policy and the relay's load.

import type {
  AdminCertificatesResponse,
  AdministratorRequest,
  AdministratorsResponse,
  AdminLoadResponse,
  AuditResponse,
  BanDetails,
  CustomDomain,
  DomainPolicyUpdate,
  InvitationRequest,
  InvitationsResponse,
  IpPolicyUpdate,
  LeaseDecisions,
  LeasePolicyUpdate,
  NamePolicyUpdate,
  NewAdministrator,
  NewInvitation,
  PinnedNamesResponse,
  PolicyChangesResponse,
  PolicyDecisionsResponse,
  PolicyLease,
  PolicyLeaseResponse,
  PolicySettings,
  PolicyStateResponse,
  RelayPolicyUpdate,
  WithdrawInvitationRequest,
} from '@svc/protocol'
import { banOf, identityKey, undoDecisions, undoPolicyUpdate } from '@svc/protocol'
import type { CertificateStatuses } from '../../certificates/certificate-status.ts'
import { RelayError } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import type { LeaseRegistry } from '../../lease/lease-registry.ts'
import type { Administrators } from '../../policy/administrators.ts'
import type { Auditor } from '../../policy/audit-log.ts'
import { detailsOf } from '../../policy/ban-details.ts'
import type { Invitations } from '../../policy/invitations.ts'
import type { Policy } from '../../policy/policy.ts'
import type { PolicyRecord } from '../../policy/policy-record.ts'
import { fillPage, sequenceOf } from '../http/pagination.ts'
import { wallTimestamp } from '../http/timestamp.ts'
import { leaseJson } from './lease-json.ts'
import { loadJson, type MeasuredLoad } from './load-json.ts'
import { pageOfDecisions } from './policy-decisions.ts'
import type { CustomDomainStates } from './sdk.ts'

/** The parts that the handler asks for figures. */
interface Measured extends MeasuredLoad {
  leases: LeaseRegistry
  certificateStatuses: Pick<CertificateStatuses, 'all'>
  /** Undefined where the relay has no custom domains. */
  customDomains: Pick<CustomDomainStates, 'of'> | undefined
}

export class AdminApi {
  readonly #policy: Policy
  readonly #record: PolicyRecord
  readonly #measured: Measured
  readonly #administrators: Administrators
  readonly #invitations: Invitations

  constructor(
    policy: Policy,
    { administrators, invitations }: { administrators: Administrators; invitations: Invitations },
    record: PolicyRecord,
    measured: Measured,
  ) {
    this.#policy = policy
    this.#administrators = administrators
    this.#invitations = invitations
    this.#record = record
    this.#measured = measured
  }

  settings(): PolicySettings {
    return this.#policy.settings
  }

  async updateSettings(settings: PolicySettings, auditor: Auditor): Promise<PolicySettings> {
    const undo = this.#policy.settings
    await this.#policy.updateSettings(settings)
    await this.#record.add({ kind: 'settings', made: settings, undo }, auditor)
    return this.#policy.settings
  }

  /** Everything about one identity. @throws RelayError `lease_not_found` when nothing is known of it */
  async lease(key: string): Promise<PolicyLeaseResponse> {
    const { leases, traffic } = this.#measured
    const lease = leases.ofIdentity(key)
    const { isApproved, isBanned, isDenied, bps } = this.#policy.identityStatus(key)
    const isDecided = this.#policy.isApprovedByName(key) || isBanned || isDenied || bps > 0
    const [seen, events] = [traffic.of(key), await this.#record.eventsOf(key)]
    if (lease === undefined && seen === undefined && events.length === 0 && !isDecided)
      throw new RelayError('lease_not_found', 'nothing is known of this identity')
    return {
      identity_key: key,
      lease: lease && this.#leaseJson(lease),
      is_approved: isApproved,
      is_banned: isBanned,
      is_denied: isDenied,
      bps,
      ban: this.#banOf(key, isBanned),
      traffic: seen,
      hours: traffic.hoursOf(key),
      events,
    }
  }

  /** @param after cursor of the previous page's last lease */
  state(after: string): PolicyStateResponse {
    const { items, next } = fillPage(this.#leasesAfter(sequenceOf(after)))
    return { policy: this.#policy.settings, leases: items, next }
  }

  /** @param after the last identity key or address of the previous page */
  decisions(after: string): PolicyDecisionsResponse {
    return pageOfDecisions(this.#policy.decisions, after)
  }

  load(): AdminLoadResponse {
    return loadJson(this.#measured)
  }

  certificates(): AdminCertificatesResponse {
    const certificates = this.#measured.certificateStatuses.all()
    return {
      certificates: certificates.map(({ kind, count, names, notAfter, lastError }) => ({
        host_kind: kind,
        count,
        names: [...names],
        not_after: notAfter === undefined ? '' : wallTimestamp(notAfter),
        last_error: lastError?.message ?? '',
        last_error_at: lastError === undefined ? '' : wallTimestamp(lastError.time),
      })),
    }
  }

  async changes(): Promise<PolicyChangesResponse> {
    return { changes: [...(await this.#record.changes.list())] }
  }

  async updateLease(update: LeasePolicyUpdate, auditor: Auditor): Promise<Record<string, never>> {
    const details = detailsOf(update, auditor.by)
    const undo = undoPolicyUpdate(update, this.#policy.decisions)
    await this.#policy.updateLease(update, details)
    await this.#record.add({ kind: 'lease', made: update, undo }, auditor)
    return {}
  }

  async updateLeases(made: LeaseDecisions, auditor: Auditor): Promise<Record<string, never>> {
    const details = made.decisions.map((decision) => detailsOf(decision, auditor.by))
    const undo = undoDecisions(made, this.#policy.decisions)
    await this.#policy.updateLeases(made.decisions, details)
    await this.#record.add({ kind: 'leases', made, undo }, auditor)
    return {}
  }

  async updateIp(made: IpPolicyUpdate, auditor: Auditor): Promise<Record<string, never>> {
    const { ip } = made
    const undo = { ip, ...(await this.#ban('banned_ips', ip, made, auditor)) }
    await this.#record.add({ kind: 'ip', made, undo }, auditor)
    return {}
  }

  async updateDomain(made: DomainPolicyUpdate, auditor: Auditor): Promise<Record<string, never>> {
    const { domain } = made
    const undo = { domain, ...(await this.#ban('banned_domains', domain, made, auditor)) }
    await this.#record.add({ kind: 'domain', made, undo }, auditor)
    return {}
  }

  async updateRelay(made: RelayPolicyUpdate, auditor: Auditor): Promise<Record<string, never>> {
    const { relay } = made
    const undo = { relay, ...(await this.#ban('banned_relays', relay, made, auditor)) }
    await this.#record.add({ kind: 'relay', made, undo }, auditor)
    return {}
  }

  /** @param after cursor of the previous page's last line */
  async audit(after: string): Promise<AuditResponse> {
    return await this.#record.page(after)
  }

  names(): PinnedNamesResponse {
    return { pinned: this.#policy.file.pinned_names }
  }

  async updateName(update: NamePolicyUpdate, auditor: Auditor): Promise<Record<string, never>> {
    const undo = { name: update.name, address: this.#policy.pinnedTo(update.name) ?? '' }
    await this.#policy.updateName(update)
    await this.#record.add({ kind: 'name', made: update, undo }, auditor)
    return {}
  }

  invitations(): InvitationsResponse {
    return { invitations: this.#invitations.list() }
  }

  async addInvitation(request: InvitationRequest, auditor: Auditor): Promise<NewInvitation> {
    const made = await this.#invitations.add(request)
    const { identity_keys: _none, ...described } = made.invitation
    await this.#record.audit({ kind: 'invitation', made: { ...described, is_valid: true } }, auditor)
    return made
  }

  async withdrawInvitation(
    { id }: WithdrawInvitationRequest,
    auditor: Auditor,
  ): Promise<Record<string, never>> {
    await this.#invitations.withdraw(id)
    await this.#record.audit({ kind: 'invitation', made: { id, is_valid: false } }, auditor)
    return {}
  }

  administrators(): AdministratorsResponse {
    return { administrators: this.#administrators.list() }
  }

  async addAdministrator({ name }: AdministratorRequest, auditor: Auditor): Promise<NewAdministrator> {
    const token = await this.#administrators.add(name)
    await this.#record.audit({ kind: 'administrator', made: { name, is_allowed: true } }, auditor)
    return { name, token }
  }

  async removeAdministrator(
    { name }: AdministratorRequest,
    auditor: Auditor,
  ): Promise<Record<string, never>> {
    await this.#administrators.remove(name)
    await this.#record.audit({ kind: 'administrator', made: { name, is_allowed: false } }, auditor)
    return {}
  }

  /** @returns the ban before, as an update has it */
  async #ban(
    list: 'banned_ips' | 'banned_relays' | 'banned_domains',
    subject: string,
    update: Pick<IpPolicyUpdate, 'is_banned' | 'reason' | 'until'>,
    { by }: Auditor,
  ): Promise<ReturnType<typeof banOf>> {
    const details = detailsOf(update, by)
    const before = banOf(list, subject, this.#policy.decisions)
    await this.#policy.updateBan(list, subject, update.is_banned, details)
    return before
  }

  *#leasesAfter(sequence: number): Generator<[string, PolicyLease]> {
    for (const lease of this.#measured.leases.after(sequence))
      yield [`${lease.sequence}`, this.#leaseJson(lease)]
  }

  /** Without the records, which are for the site. */
  #domainsOf(lease: Lease): CustomDomain[] | undefined {
    if (lease.preferences.domains.length === 0) return undefined
    return this.#measured.customDomains?.of(lease).map(({ records: _none, ...domain }) => domain)
  }

  #banOf(key: string, isBanned: boolean): BanDetails | undefined {
    return isBanned ? this.#policy.file.ban_details.banned_identity_keys?.[key] : undefined
  }

  #leaseJson(lease: Lease): PolicyLease {
    const { name, address } = lease.identity
    const key = identityKey(name, address)
    const { isApproved, isBanned, isDenied, bps } = this.#policy.identityStatus(key)
    return {
      ...leaseJson(lease),
      custom_domains: this.#domainsOf(lease),
      identity_key: key,
      address,
      bps,
      client_ip: lease.clientIp,
      reported_ip: lease.reportedIp,
      is_approved: isApproved,
      is_banned: isBanned,
      is_denied: isDenied,
      traffic: this.#measured.traffic.of(key),
      is_ip_banned: this.#policy.isAnyIpBanned(lease.clientIp, lease.reportedIp),
      ip_bans: this.#policy.ipBansOf(lease.clientIp, lease.reportedIp),
      ban: this.#banOf(key, isBanned),
    }
  }
}
