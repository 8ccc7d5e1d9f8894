// Decides by the current policy about an identity, a client address or a lease.

import type { Routing } from '@svc/protocol'
import { addressIn, wideNetworkOf, wideNetworkOfNetwork } from '../client-address/ip-address.ts'
import { NetworkSet } from '../client-address/ip-networks.ts'
import type { Lease } from '../lease/lease.ts'
import type { PolicyFile } from './policy-file.ts'

interface IdentityStatus {
  /** Approved by an administrator, by an invitation or by the mode `auto`; false for a denied identity. */
  isApproved: boolean
  isBanned: boolean
  isDenied: boolean
  /** Bytes per second; 0 means unlimited. */
  bps: number
}

/** The facts that the policy needs of a lease, or of what is left of one. */
export type Judged = Readonly<Pick<Lease, 'identityKey' | 'clientIp' | 'reportedIp'>>

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

  /** Replaces the policy. */
  apply(file: PolicyFile): void {
    this.#file = file
    this.#index = indexOf(file)
    for (const listener of this.#onChange) listener()
  }

  identityStatus(identityKey: string): IdentityStatus {
    const file = this.#file
    const { approved, denied, banned, invited } = this.#index
    const isDenied = denied.has(identityKey)
    const isChosen = file.approval_mode === 'auto' || approved.has(identityKey) || invited.has(identityKey)
    return {
      isApproved: !isDenied && isChosen,
      isBanned: banned.has(identityKey),
      isDenied,
      bps: file.identity_bps[identityKey] ?? 0,
    }
  }

  /** Whether an administrator approved an identity. The mode `auto` alone does not count. */
  isApprovedByName(identityKey: string): boolean {
    return this.#index.approved.has(identityKey)
  }

  /** Whether the identity would need an invitation to register. */
  isUninvited(identityKey: string): boolean {
    const { approved, invited } = this.#index
    return this.#file.approval_mode === 'token' && !approved.has(identityKey) && !invited.has(identityKey)
  }

  /** Whether the operator reserves a name. @param name normalized */
  isReserved(name: string): boolean {
    return this.#index.reserved.has(name)
  }

  /** The address to which a name is pinned. @param name normalized */
  pinnedTo(name: string): string | undefined {
    return this.#index.pinned.get(name)
  }

  /** Whether any of the normalized addresses is banned. Undefined addresses are ignored. */
  isAnyIpBanned(...ips: (string | undefined)[]): boolean {
    return ips.some((ip) => ip !== undefined && this.#index.bannedIps.has(ip))
  }

  /** Returns whether the operator banned a relay from discovery. @param address lower case with `0x` */
  isRelayBanned(address: string, origin: string): boolean {
    return this.#index.bannedRelays.has(address) || this.#index.bannedRelays.has(origin)
  }

  /** Whether the operator banned a custom domain, by its own name or one above it. */
  isDomainBanned(domain: string): boolean {
    const { bannedDomains } = this.#index
    if (bannedDomains.size === 0) return false
    const labels = domain.split('.')
    return labels.some((_, depth) => bannedDomains.has(labels.slice(depth).join('.')))
  }

  /** The bans that cover any of the addresses, in the form of the policy. */
  ipBansOf(...ips: (string | undefined)[]): string[] {
    return [...new Set(ips.flatMap((ip) => (ip === undefined ? [] : this.#index.bannedIps.covering(ip))))]
  }

  /**
   * Whether the lease is banned or denied, by its identity or an address, or its invitation was withdrawn. All of its
   * connections must end then.
   */
  blocks(lease: Judged): boolean {
    const { isBanned, isDenied } = this.identityStatus(lease.identityKey)
    const isOut = isBanned || isDenied || this.isUninvited(lease.identityKey)
    return isOut || this.isAnyIpBanned(lease.clientIp, lease.reportedIp)
  }

  /** Whether visitors may reach the lease. */
  routes(lease: Judged): boolean {
    return this.routing(lease) === 'allowed'
  }

  /** Whether visitors may reach the lease and, if not, whether an approval would change that. */
  routing(lease: Judged): Routing {
    if (this.blocks(lease)) return 'rejected'
    return this.identityStatus(lease.identityKey).isApproved ? 'allowed' : 'approval'
  }

  /** The same for a lease of which no more than the network is known: a ban of an address there counts as one of the lease's. */
  mayRoute({ identityKey, registeredFrom }: Pick<Lease, 'identityKey' | 'registeredFrom'>): boolean {
    if (this.#index.bannedWide.has(wideNetworkOfNetwork(registeredFrom))) return false
    return this.routes({ identityKey, clientIp: addressIn(registeredFrom), reportedIp: undefined })
  }

  /** Bandwidth limit of an identity in bytes per second; 0 means unlimited. */
  bytesPerSecond({ identityKey }: Pick<Judged, 'identityKey'>): number {
    return this.#file.identity_bps[identityKey] ?? 0
  }

  /** Adds a listener, which is called after each change of the policy in memory. */
  onChange(listener: () => void): void {
    this.#onChange.add(listener)
  }
}

/** The lists of a policy as sets, so that a lookup takes the same time for lists of any length. */
interface Index {
  approved: ReadonlySet<string>
  denied: ReadonlySet<string>
  banned: ReadonlySet<string>
  bannedIps: NetworkSet
  /** The wide networks of which these have an address. */
  bannedWide: ReadonlySet<string>
  bannedRelays: ReadonlySet<string>
  bannedDomains: ReadonlySet<string>
  reserved: ReadonlySet<string>
  pinned: ReadonlyMap<string, string>
  /** Who came in with an invitation. */
  invited: ReadonlySet<string>
}

function indexOf(file: PolicyFile): Index {
  return {
    approved: new Set(file.approved_identity_keys),
    denied: new Set(file.denied_identity_keys),
    banned: new Set(file.banned_identity_keys),
    bannedIps: new NetworkSet(file.banned_ips),
    bannedWide: new Set(file.banned_ips.map((network) => wideNetworkOf(network.split('/', 1)[0]!))),
    bannedRelays: new Set(file.banned_relays),
    bannedDomains: new Set(file.banned_domains),
    reserved: new Set(file.reserved_names),
    pinned: new Map(Object.entries(file.pinned_names)),
    invited: new Set(file.invitations.flatMap(({ identity_keys }) => identity_keys)),
  }
}
