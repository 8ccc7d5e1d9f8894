// What the policy in force says about an identity, an address or a lease.

import { identityKey, type Routing } from '@svc/protocol'
import { NetworkSet } from '../client-address/ip-networks.ts'
import type { Lease } from '../lease/lease.ts'
import type { PolicyFile } from './policy-file.ts'

interface IdentityStatus {
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
  #index: Index

  constructor(file: PolicyFile) {
    this.#file = file
    this.#index = indexOf(file)
  }

  get file(): PolicyFile {
    return this.#file
  }

  /** Another policy, from now on. */
  apply(file: PolicyFile): void {
    this.#file = file
    this.#index = indexOf(file)
    for (const listener of this.#onChange) listener()
  }

  identityStatus(identityKey: string): IdentityStatus {
    const file = this.#file
    const { approved, denied, banned } = this.#index
    const isDenied = denied.has(identityKey)
    return {
      isApproved: !isDenied && (file.approval_mode === 'auto' || approved.has(identityKey)),
      isBanned: banned.has(identityKey),
      isDenied,
      bps: file.identity_bps[identityKey] ?? 0,
    }
  }

  /** Whether the operator keeps a name from everybody. @param name normalized */
  isReserved(name: string): boolean {
    return this.#index.reserved.has(name)
  }

  /** Whether any of the addresses is banned. They are normalized; undefined ones do not count. */
  isAnyIpBanned(...ips: (string | undefined)[]): boolean {
    return ips.some((ip) => ip !== undefined && this.#index.bannedIps.has(ip))
  }

  /** The bans that meet any of the addresses, as the policy has them. */
  ipBansOf(...ips: (string | undefined)[]): string[] {
    return [...new Set(ips.flatMap((ip) => (ip === undefined ? [] : this.#index.bannedIps.covering(ip))))]
  }

  /** Whether the lease is banned or denied, by its identity or an address: nothing of it may stay open. */
  blocks(lease: Lease): boolean {
    const { isBanned, isDenied } = this.identityStatus(keyOf(lease))
    return isBanned || isDenied || this.isAnyIpBanned(lease.clientIp, lease.reportedIp)
  }

  /** Whether visitors may reach the lease. */
  routes(lease: Lease): boolean {
    return this.routing(lease) === 'allowed'
  }

  /** Whether visitors may reach the lease and, if not, whether an approval would change that. */
  routing(lease: Lease): Routing {
    if (this.blocks(lease)) return 'rejected'
    return this.identityStatus(keyOf(lease)).isApproved ? 'allowed' : 'approval'
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

/** The lists of a policy, made for asking: however long they are, that takes no longer. */
interface Index {
  approved: ReadonlySet<string>
  denied: ReadonlySet<string>
  banned: ReadonlySet<string>
  bannedIps: NetworkSet
  reserved: ReadonlySet<string>
}

function indexOf(file: PolicyFile): Index {
  return {
    approved: new Set(file.approved_identity_keys),
    denied: new Set(file.denied_identity_keys),
    banned: new Set(file.banned_identity_keys),
    bannedIps: new NetworkSet(file.banned_ips),
    reserved: new Set(file.reserved_names),
  }
}

function keyOf(lease: Lease): string {
  return identityKey(lease.identity.name, lease.identity.address)
}
