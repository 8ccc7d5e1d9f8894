// Who may publish and how: the operator's decisions, kept in policy.json and asked wherever a lease is used.

import { join } from 'node:path'
import type { LeasePolicyUpdate, PolicyDecisionsResponse, PolicySettings } from '@svc/protocol'
import { GroupCommit } from '../group-commit.ts'
import { type PortGates, SettingsError } from '../settings.ts'
import { readIfPresent, writePrivate } from '../state-file.ts'
import { emptyPolicy, type PolicyFile, parsePolicyFile } from './policy-file.ts'
import { PolicyRules } from './rules.ts'

export class Policy extends PolicyRules {
  readonly #path: string
  /** Changes of ours that may not be in the file yet. */
  #unsaved = 0
  readonly #commits = new GroupCommit(() => writePrivate(this.#path, format(this.file)))

  private constructor(path: string, file: PolicyFile) {
    super(file)
    this.#path = path
  }

  /** @throws SettingsError when `policy.json` is there but cannot be used; it is never overwritten */
  static async load(directory: string, gates: PortGates): Promise<Policy> {
    const path = join(directory, 'policy.json')
    const file = await readPolicyFile(path)
    if (file !== undefined) return new Policy(path, file)
    const policy = new Policy(path, emptyPolicy(gates))
    await policy.saved()
    return policy
  }

  /**
   * Takes what somebody wrote into the file, unless a change of ours is on its way there.
   * @returns whether that is another policy
   * @throws SettingsError when the file cannot be used; the policy stays as it is
   */
  async reload(): Promise<boolean> {
    // The file is older than what it would replace; once it is written, somebody will look again.
    if (this.#unsaved > 0) return false
    const before = this.file
    const file = await readPolicyFile(this.#path)
    if (file === undefined) throw new SettingsError(this.#path, 'is gone')
    if (this.file !== before || format(file) === format(before)) return false
    this.inForce(file)
    return true
  }

  /** Resolves when the policy of now is on disk. */
  async saved(): Promise<void> {
    await this.#commits.commit()
  }

  get settings(): PolicySettings {
    const file = this.file
    return {
      approval_mode: file.approval_mode,
      landing_page_enabled: file.landing_page_enabled,
      udp: { enabled: file.udp_enabled, max_leases: file.udp_max_leases },
      tcp_port: { enabled: file.tcp_port_enabled, max_leases: file.tcp_port_max_leases },
    }
  }

  /** Every decision that holds, whether or not somebody is here whom it is about. */
  get decisions(): PolicyDecisionsResponse {
    const file = this.file
    return {
      approved: file.approved_identity_keys,
      denied: file.denied_identity_keys,
      banned: file.banned_identity_keys,
      banned_ips: file.banned_ips,
      bps: file.identity_bps,
    }
  }

  async updateSettings(settings: PolicySettings): Promise<void> {
    await this.#change({
      approval_mode: settings.approval_mode,
      landing_page_enabled: settings.landing_page_enabled,
      udp_enabled: settings.udp.enabled,
      udp_max_leases: settings.udp.max_leases,
      tcp_port_enabled: settings.tcp_port.enabled,
      tcp_port_max_leases: settings.tcp_port.max_leases,
    })
  }

  async updateLease(update: LeasePolicyUpdate): Promise<void> {
    const { identity_key: key, is_banned, is_approved, is_denied, bps } = update
    const file = this.file
    const revoked = is_denied === true ? false : is_approved
    await this.#change({
      banned_identity_keys: withMember(file.banned_identity_keys, key, is_banned),
      denied_identity_keys: withMember(file.denied_identity_keys, key, is_denied),
      approved_identity_keys: withMember(file.approved_identity_keys, key, revoked),
      identity_bps: bps === undefined ? file.identity_bps : withRate(file.identity_bps, key, bps),
    })
  }

  /** @param ip normalized */
  async updateIp(ip: string, isBanned: boolean): Promise<void> {
    await this.#change({ banned_ips: withMember(this.file.banned_ips, ip, isBanned) })
  }

  async #change(fields: Partial<PolicyFile>): Promise<void> {
    this.#unsaved += 1
    try {
      this.inForce({ ...this.file, ...fields })
      await this.saved()
    } finally {
      this.#unsaved -= 1
    }
  }
}

async function readPolicyFile(path: string): Promise<PolicyFile | undefined> {
  const text = await readIfPresent(path)
  if (text === undefined) return undefined
  const file = parsePolicyFile(text)
  if (file === undefined) throw new SettingsError(path, 'is not a policy file')
  return file
}

function format(file: PolicyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`
}

/** The list with or without `member`; undefined leaves it as it is. */
function withMember(list: readonly string[], member: string, present: boolean | undefined): string[] {
  if (present === undefined) return [...list]
  const others = list.filter((other) => other !== member)
  return present ? [...others, member] : others
}

function withRate(rates: Readonly<Record<string, number>>, key: string, bps: number): Record<string, number> {
  const { [key]: _replaced, ...others } = rates
  return bps === 0 ? others : { ...others, [key]: bps }
}
