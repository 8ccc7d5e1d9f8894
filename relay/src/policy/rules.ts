// What the policy in force says about an identity, an address or a lease.

import { identityKey } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import type { PolicyFile } from './policy-file.ts'

interface Standing {
  /** Explicit, or by the mode `auto`; never while denied. */
  isApproved: boolean
  isBanned: boolean
  isDenied: boolean
  /** Bytes per second; 0 means unlimited. */
  bps: number
}

export class PolicyRules {
  readonly #onChange = new Set<() => void>()
  #file: PolicyFile

  constructor(file: PolicyFile) {
    this.#file = file
  }

  get file(): PolicyFile {
    return this.#file
  }

  /** Another policy, from now on. */
  inForce(file: PolicyFile): void {
    this.#file = file
    for (const listener of this.#onChange) listener()
  }

  standing(identityKey: string): Standing {
    const file = this.#file
    const isBanned = file.banned_identity_keys.includes(identityKey)
    const isDenied = file.denied_identity_keys.includes(identityKey)
    return {
      isApproved:
        !isDenied && (file.approval_mode === 'auto' || file.approved_identity_keys.includes(identityKey)),
      isBanned,
      isDenied,
      bps: file.identity_bps[identityKey] ?? 0,
    }
  }

  /** Whether any of the addresses is banned. They are normalized; undefined ones do not count. */
  isAnyIpBanned(...ips: (string | undefined)[]): boolean {
    return ips.some((ip) => ip !== undefined && this.#file.banned_ips.includes(ip))
  }

  /** Whether the lease is banned or denied, by its identity or an address: nothing of it may stay open. */
  bars(lease: Lease): boolean {
    const { isBanned, isDenied } = this.standing(keyOf(lease))
    return isBanned || isDenied || this.isAnyIpBanned(lease.clientIp, lease.reportedIp)
  }

  /** Whether visitors may reach the lease. */
  routes(lease: Lease): boolean {
    return this.standing(keyOf(lease)).isApproved && !this.bars(lease)
  }

  /** What the identity of the lease may transfer, in bytes per second; 0 means unlimited. */
  bytesPerSecond(lease: Lease): number {
    return this.#file.identity_bps[keyOf(lease)] ?? 0
  }

  /** Called after each change, once it is in force; it is on disk when the change's promise resolves. */
  onChange(listener: () => void): void {
    this.#onChange.add(listener)
  }
}

function keyOf(lease: Lease): string {
  return identityKey(lease.identity.name, lease.identity.address)
}
