// Keeps the policy in policy.json: the administrator's decisions on who may publish, and how.

import { join } from 'node:path'
import type {
  ApprovalMode,
  BanDetails,
  LeaseDecision,
  LeasePolicyUpdate,
  NamePolicyUpdate,
  PolicyDecisionsResponse,
  PolicySettings,
} from '@svc/protocol'
import { type PortGates, SettingsError } from '../config/settings.ts'
import { RelayError } from '../errors.ts'
import { GroupCommit } from '../storage/group-commit.ts'
import { probePrivateWrite, readIfPresent, writePrivate } from '../storage/state-file.ts'
import type { WriteHealth } from '../storage/write-health.ts'
import { withBan, withMember } from './ban-details.ts'
import {
  type BanField,
  initialPolicy,
  PINNED_NAMES_MAX,
  type PolicyFile,
  parsePolicyFile,
} from './policy-file.ts'
import { PolicyRules } from './policy-rules.ts'

const FILE = 'policy.json'
const WATCHED = { name: FILE, meanwhile: 'it refuses changes of the policy' }

type Edit = (file: PolicyFile) => PolicyFile

/** The other machines of a relay, which have the same policy. */
export interface PolicySharing {
  /**
   * Changes the policy of all machines, of which this is one.
   * @throws RelayError `feature_unavailable` while they cannot be asked
   */
  change(edit: Edit): Promise<void>
}

export interface PolicyOptions {
  health: WriteHealth
  /** The mode of approval, which no change of the policy changes. @default that of the policy */
  mode?: ApprovalMode | undefined
}

export class Policy extends PolicyRules {
  readonly #path: string
  /** Changes of the next write. */
  readonly #edits: Edit[] = []
  readonly #commits: GroupCommit
  #isWriting = false
  /** The number of writes that have begun. */
  #writes = 0
  /** Whether the file is older than the policy. */
  #isFileOld = false
  #sharing: PolicySharing | undefined
  #lastChange: Promise<void> = Promise.resolve()

  /** The mode that the settings decide, whatever the file says; undefined: the file decides. */
  readonly #mode: ApprovalMode | undefined

  private constructor(path: string, file: PolicyFile, { health, mode }: PolicyOptions) {
    super(inMode(file, mode))
    this.#path = path
    this.#mode = mode
    const commit = (): Promise<void> =>
      health.watch(
        WATCHED,
        () => this.#write(),
        () => this.#commits.commit(),
      )
    this.#commits = new GroupCommit(commit)
  }

  /** @throws SettingsError when `policy.json` is invalid; the relay never overwrites an invalid file */
  static async load(directory: string, gates: PortGates, options: PolicyOptions): Promise<Policy> {
    const path = join(directory, FILE)
    const file = await readPolicyFile(path)
    const policy = new Policy(path, file ?? initialPolicy(gates), options)
    if (file?.approval_mode !== policy.file.approval_mode) await policy.#change((known) => known)
    return policy
  }

  override apply(file: PolicyFile): void {
    super.apply(inMode(file, this.#mode))
  }

  /**
   * Reads an operator's edit of the file, unless the relay is about to write the file itself.
   * @returns whether the policy changed
   * @throws SettingsError when the file is invalid; the policy stays as it is
   */
  async reload(): Promise<boolean> {
    // The file is older than the pending change. Its write triggers another reload.
    if (this.#isWriting || this.#edits.length > 0 || this.#isFileOld) return false
    const [before, writes] = [this.file, this.#writes]
    const read = await readPolicyFile(this.#path)
    // What was read may be from before the write.
    if (this.#writes !== writes) return false
    if (read === undefined) throw new SettingsError(this.#path, 'no longer exists')
    const file = inMode(read, this.#mode)
    if (this.file !== before || format(file) === format(before) || this.#isFileOld) return false
    if (this.#sharing === undefined) this.apply(file)
    else await this.#change(() => file)
    return true
  }

  /** From now on all changes are made at all machines of the relay. */
  shareWith(sharing: PolicySharing): void {
    this.#sharing = sharing
  }

  /** Takes the policy that another machine has changed, and writes it when the disk has room. */
  applyShared(file: PolicyFile): void {
    if (format(file) === format(this.file)) return
    this.apply(file)
    this.#isFileOld = true
    this.#commits.commit().catch(() => {})
  }

  /** Resolves when no change is pending. Never rejects. */
  async settled(): Promise<void> {
    await this.#lastChange.catch(() => {})
  }

  get settings(): PolicySettings {
    const file = this.file
    return {
      approval_mode: file.approval_mode,
      landing_page_enabled: file.landing_page_enabled,
      udp: { enabled: file.udp_enabled, max_leases: file.udp_max_leases },
      tcp_port: { enabled: file.tcp_port_enabled, max_leases: file.tcp_port_max_leases },
      reserved_names: file.reserved_names,
    }
  }

  /** Every decision in force, whether or not it applies to a lease. */
  get decisions(): PolicyDecisionsResponse {
    const file = this.file
    return {
      approved: file.approved_identity_keys,
      denied: file.denied_identity_keys,
      banned: file.banned_identity_keys,
      banned_ips: file.banned_ips,
      banned_relays: file.banned_relays,
      banned_domains: file.banned_domains,
      bps: file.identity_bps,
      ban_details: {
        banned: file.ban_details.banned_identity_keys ?? {},
        banned_ips: file.ban_details.banned_ips ?? {},
        banned_relays: file.ban_details.banned_relays ?? {},
        banned_domains: file.ban_details.banned_domains ?? {},
      },
    }
  }

  /** @throws RelayError `invalid_request` for another mode than that of the settings */
  async updateSettings(settings: PolicySettings): Promise<void> {
    if ((this.#mode ?? settings.approval_mode) !== settings.approval_mode)
      throw new RelayError(
        'invalid_request',
        'approval_mode: the setting REGISTRATION of this relay decides it',
      )
    await this.#change((file) => ({
      ...file,
      approval_mode: settings.approval_mode,
      landing_page_enabled: settings.landing_page_enabled,
      udp_enabled: settings.udp.enabled,
      udp_max_leases: settings.udp.max_leases,
      tcp_port_enabled: settings.tcp_port.enabled,
      tcp_port_max_leases: settings.tcp_port.max_leases,
      reserved_names: settings.reserved_names ? [...new Set(settings.reserved_names)] : file.reserved_names,
    }))
  }

  /** @param details of a ban */
  async updateLease(update: LeasePolicyUpdate, details?: BanDetails): Promise<void> {
    const { identity_key: key, bps } = update
    await this.#change((file) => ({
      ...withDecision(file, update, details),
      identity_bps:
        bps === undefined ? file.identity_bps : withEntry(file.identity_bps, key, bps || undefined),
    }))
  }

  /** Makes all decisions, or none. @param details of the ban of each */
  async updateLeases(
    decisions: readonly LeaseDecision[],
    details: readonly (BanDetails | undefined)[],
  ): Promise<void> {
    await this.#change((file) =>
      decisions.reduce((before, made, index) => withDecision(before, made, details[index]), file),
    )
  }

  /**
   * Bans an address, a relay or a domain, or ends the ban.
   * @param subject as the policy's file has it
   */
  async updateBan(
    field: BanField,
    subject: string,
    isBanned: boolean,
    details?: BanDetails | undefined,
  ): Promise<void> {
    await this.#change((file) => withBan(file, field, subject, isBanned, details))
  }

  /**
   * Pins a name to an address, or unpins it. Both are normalized.
   * @param address empty: anybody may register the name again
   * @throws RelayError `invalid_request` when too many names are pinned
   */
  async updateName({ name, address }: NamePolicyUpdate): Promise<void> {
    const { [name]: _replaced, ...others } = this.file.pinned_names
    if (address !== '' && Object.keys(others).length >= PINNED_NAMES_MAX)
      throw new RelayError('invalid_request', `${PINNED_NAMES_MAX} names are pinned: unpin one`)
    await this.#change((file) => ({
      ...file,
      pinned_names: withEntry(file.pinned_names, name, address || undefined),
    }))
  }

  /**
   * Changes the policy by what it says then: of two machines that decide at once, the second knows of the first.
   * @param edit returns the next policy, or the same, and what it found; it may be called several times
   * @returns what the last call found
   */
  async decide<Found>(edit: (file: PolicyFile) => [file: PolicyFile, found: Found]): Promise<Found> {
    let found: Found | undefined
    await this.#change((file) => {
      const [next, what] = edit(file)
      found = what
      return next
    })
    return found as Found
  }

  /**
   * Applies a change once it is on disk.
   * @throws StateFileError after which the policy is unchanged
   */
  async #change(edit: Edit): Promise<void> {
    this.#edits.push(edit)
    this.#lastChange = this.#commits.commit()
    await this.#lastChange
  }

  async #write(): Promise<void> {
    const edits = this.#edits.splice(0)
    // Without a change, this is a retry that only tests whether the disk has room: a failed change is never made later.
    if (edits.length === 0 && !this.#isFileOld) return await probePrivateWrite(this.#path, format(this.file))
    this.#isWriting = true
    this.#writes += 1
    try {
      const all: Edit = (file) => edits.reduce((before, edit) => edit(before), file)
      const isShared = edits.length > 0 && this.#sharing !== undefined
      if (isShared) await this.#sharing?.change(all)
      const file = isShared ? this.file : all(this.file)
      await this.#save(file, isShared)
      // Changes of other machines in the meantime are already in force.
      if (edits.length > 0 && !isShared) this.apply(file)
    } finally {
      this.#isWriting = false
    }
  }

  /** @param isInForce whether the policy is in use although it is not on disk yet */
  async #save(file: PolicyFile, isInForce: boolean): Promise<void> {
    const wasOld = this.#isFileOld || isInForce
    this.#isFileOld = false
    try {
      await writePrivate(this.#path, format(file))
    } catch (error) {
      this.#isFileOld ||= wasOld
      throw error
    }
  }
}

/** Reads the policy of a state directory without writing. @throws SettingsError when `policy.json` is invalid */
export async function readPolicyOf(directory: string): Promise<PolicyFile | undefined> {
  return await readPolicyFile(join(directory, FILE))
}

async function readPolicyFile(path: string): Promise<PolicyFile | undefined> {
  const text = await readIfPresent(path)
  if (text === undefined) return undefined
  try {
    return parsePolicyFile(text)
  } catch (error) {
    throw new SettingsError(path, `is not a policy file (${(error as Error).message})`)
  }
}

function inMode(file: PolicyFile, mode: ApprovalMode = file.approval_mode): PolicyFile {
  return file.approval_mode === mode ? file : { ...file, approval_mode: mode }
}

function format(file: PolicyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`
}

/** The policy after a decision. A denial also revokes the approval. @param details of a ban */
function withDecision(
  file: PolicyFile,
  { identity_key, is_banned, is_approved, is_denied }: LeaseDecision,
  details: BanDetails | undefined,
): PolicyFile {
  const isApproved = is_denied === true ? false : is_approved
  return {
    ...withBan(file, 'banned_identity_keys', identity_key, is_banned, details),
    denied_identity_keys: withMember(file.denied_identity_keys, identity_key, is_denied),
    approved_identity_keys: withMember(file.approved_identity_keys, identity_key, isApproved),
  }
}

/** The record with another value of `key`, or without the key. */
function withEntry<T>(
  record: Readonly<Record<string, T>>,
  key: string,
  value: T | undefined,
): Record<string, T> {
  const { [key]: _replaced, ...others } = record
  return value === undefined ? others : { ...others, [key]: value }
}
