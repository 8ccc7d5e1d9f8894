// The operator's endpoints: logging in with the admin token, and the policy.

import { createHash, timingSafeEqual } from 'node:crypto'
import type {
  AdminAuthLoginResponse,
  AdminAuthStatusResponse,
  AdminLoadResponse,
  IpPolicyUpdate,
  LeasePolicyUpdate,
  PolicyChangesResponse,
  PolicyDecisionsResponse,
  PolicyLease,
  PolicySettings,
  PolicyStateResponse,
} from '@svc/protocol'
import { identityKey, undoOf } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { networkOf } from '../ip.ts'
import type { Lease } from '../lease/lease.ts'
import type { Measured } from '../metrics/metrics.ts'
import { PolicyChanges } from '../policy/changes.ts'
import type { Policy } from '../policy/policy.ts'
import { leaseJson } from './lease-json.ts'
import { LoginAttempts } from './login-attempts.ts'

export class AdminApi {
  readonly #token: string | undefined
  readonly #policy: Policy
  readonly #measured: Measured
  readonly #attempts = new LoginAttempts()
  readonly #changes = new PolicyChanges()

  /** @param token the configured admin token; undefined turns administration off */
  constructor(token: string | undefined, policy: Policy, measured: Measured) {
    this.#token = token
    this.#policy = policy
    this.#measured = measured
  }

  /** @throws RelayError `rate_limited` after 5 failures a minute from the network of `address` */
  login(token: string, address: string): AdminAuthLoginResponse {
    if (this.#token === undefined)
      throw new RelayError('feature_unavailable', 'this relay has no ADMIN_TOKEN')
    const source = networkOf(address)
    this.#attempts.require(source)
    if (this.#isToken(token)) return { access_token: this.#token }
    this.#attempts.failed(source)
    throw refused('the token is not the admin token')
  }

  status(authorization: string | undefined): AdminAuthStatusResponse {
    return { authenticated: this.#isToken(bearer(authorization)) }
  }

  /** @throws RelayError `unauthorized` (401) without a valid bearer */
  require(authorization: string | undefined): void {
    if (!this.#isToken(bearer(authorization))) throw refused('a valid bearer token is needed')
  }

  settings(): PolicySettings {
    return this.#policy.settings
  }

  async updateSettings(settings: PolicySettings): Promise<PolicySettings> {
    const undo = this.#policy.settings
    await this.#policy.updateSettings(settings)
    this.#changes.add({ kind: 'settings', made: settings, undo })
    return this.#policy.settings
  }

  state(): PolicyStateResponse {
    const leases = [...this.#measured.leases].map((lease) => this.#leaseJson(lease))
    return { policy: this.#policy.settings, leases }
  }

  decisions(): PolicyDecisionsResponse {
    return this.#policy.decisions
  }

  load(): AdminLoadResponse {
    const { leases, tally, visitors } = this.#measured
    const { fromVisitors, toVisitors } = visitors.traffic
    return {
      leases: leases.size,
      ready_sessions: leases.readySessions,
      carriers: tally.carriers,
      visitor_connections: visitors.size,
      visitor_received_bytes: fromVisitors,
      visitor_sent_bytes: toVisitors,
    }
  }

  changes(): PolicyChangesResponse {
    return { changes: [...this.#changes.newestFirst] }
  }

  async updateLease(update: LeasePolicyUpdate): Promise<Record<string, never>> {
    const undo = undoOf(update, this.#policy.decisions)
    await this.#policy.updateLease(update)
    this.#changes.add({ kind: 'lease', made: update, undo })
    return {}
  }

  async updateIp(update: IpPolicyUpdate): Promise<Record<string, never>> {
    const { ip, is_banned } = update
    const undo = { ip, is_banned: this.#policy.isAnyIpBanned(ip) }
    await this.#policy.updateIp(ip, is_banned)
    this.#changes.add({ kind: 'ip', made: update, undo })
    return {}
  }

  #leaseJson(lease: Lease): PolicyLease {
    const { name, address } = lease.identity
    const key = identityKey(name, address)
    const { isApproved, isBanned, isDenied, bps } = this.#policy.standing(key)
    return {
      ...leaseJson(lease),
      identity_key: key,
      address,
      bps,
      client_ip: lease.clientIp,
      reported_ip: lease.reportedIp,
      is_approved: isApproved,
      is_banned: isBanned,
      is_denied: isDenied,
      is_ip_banned: this.#policy.isAnyIpBanned(lease.clientIp, lease.reportedIp),
    }
  }

  #isToken(token: string | undefined): boolean {
    if (this.#token === undefined || token === undefined) return false
    // Digests have one length, so that not even the length of the real one shows in the time this takes.
    return timingSafeEqual(sha256(token), sha256(this.#token))
  }
}

const UNAUTHORIZED = 401

function refused(message: string): RelayError {
  return new RelayError('unauthorized', message, { 'WWW-Authenticate': 'Bearer' }, UNAUTHORIZED)
}

function bearer(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
