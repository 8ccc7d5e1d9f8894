// The records of the root host's zone, and the look-up of a name's records.

import { dnskeyData, dsData } from '../dnssec/key-records.ts'
import type { ZoneKey } from '../dnssec/zone-key.ts'
import type { ZoneChange } from './answer.ts'
import { ADDRESS_TTL_S, RECORD_SET_MAX_OCTETS, STEADY_TTL_S } from './limits.ts'
import { DnsName } from './name.ts'
import { firstLabel, wildcardOf, ZoneNames } from './names.ts'
import { httpsData, nameData, soaData, TYPE } from './record-data.ts'
import { isSameSet, type RecordSet, recordSet } from './record-set.ts'

/**
 * The first labels of the name servers in the parent zone's delegation. Both have the relay's addresses: some registrars
 * require two names.
 */
const SERVER_LABELS = ['ns1', 'ns2']
/** First label of the mailbox in SOA (RFC 2142 §7). */
const MAILBOX_LABEL = 'hostmaster'
/** The SOA timers for secondary servers, in seconds (RFC 1912 §2.2). There are none, because the server refuses transfers. */
const SECONDARIES = { refresh: 3600, retry: 600, expire: 1_209_600 }
/** Serial numbers follow the clock in steps of this size, so that they grow across restarts. */
const SERIAL_STEP_MS = 100
const TTL_MAX_S: number = 2 ** 31 - 1

/** The types that can be changed. All others are derived from the zone's name and key. */
const CHANGEABLE: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.HTTPS, TYPE.CAA]
const ADDRESS_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA]
const ADDRESS_OCTETS: ReadonlyMap<number, number> = new Map([
  [TYPE.A, 4],
  [TYPE.AAAA, 16],
])

/** The records of a name. */
export interface FoundName {
  sets: readonly RecordSet[]
  /** Whether the zone always has the name, unlike arbitrary names of clients. */
  isSteady: boolean
}

export class ZoneContent {
  readonly apex: DnsName
  /** Grows with each change. */
  version = 1

  readonly #names: ZoneNames
  readonly #wildcard: DnsName
  readonly #servers: readonly DnsName[]
  readonly #fixedSets: readonly RecordSet[]
  readonly #https: RecordSet | undefined
  readonly #wallClock: () => number
  #serial = 0
  /** Undefined when changes have made it outdated. */
  #soa: RecordSet | undefined
  #wildcardSets: readonly RecordSet[] | undefined

  constructor(key: ZoneKey, hasDefaultPort: boolean, wallClock: () => number) {
    this.apex = DnsName.parse(key.zone)
    this.#names = new ZoneNames(this.apex)
    this.#wildcard = DnsName.parse(`*.${key.zone}`)
    this.#servers = SERVER_LABELS.map((label) => DnsName.parse(`${label}.${key.zone}`))
    this.#https = hasDefaultPort ? recordSet(TYPE.HTTPS, STEADY_TTL_S, [httpsData()]) : undefined
    this.#fixedSets = [
      recordSet(TYPE.NS, STEADY_TTL_S, this.#servers.map(nameData)),
      recordSet(TYPE.DNSKEY, STEADY_TTL_S, [dnskeyData(key)]),
      recordSet(TYPE.CDS, STEADY_TTL_S, [dsData(key)]),
      recordSet(TYPE.CDNSKEY, STEADY_TTL_S, [dnskeyData(key)]),
    ]
    this.#wallClock = wallClock
  }

  /** @throws RangeError for a change that the zone cannot have; nothing is changed then */
  apply(change: ZoneChange): void {
    const name = DnsName.parse(change.name)
    this.#check(name, change)
    const before = this.#names.setsAt(name.key)
    const old = setOf(before, change.type)
    const set = change.kind === 'set' ? checkedSet(change) : undefined
    if (set === undefined ? old === undefined : isSameSet(set, old)) return
    const others = before.filter(({ type }) => type !== change.type)
    this.#names.put(name, set === undefined ? others : [...others, set])
    this.version++
    this.#soa = undefined
    this.#wildcardSets = undefined
  }

  /** @param name below the apex or at it @returns undefined for a name that does not exist */
  find(name: DnsName): FoundName | undefined {
    if (name.key === this.apex.key) return { sets: this.#apexSets(), isSteady: true }
    if (this.#isServer(name.key)) return { sets: this.#addresses(), isSteady: true }
    if (name.key === this.#wildcard.key) return steady(this.#setsOfWildcard())
    const closest = this.#closestEncloser(name)
    if (closest !== name.key) return varying(this.#setsByWildcard(closest))
    const sets = this.#names.setsAt(name.key)
    return varying(this.#isHost(name) ? this.#asHost(sets) : sets)
  }

  /** @param name below the apex or at it */
  sourceOf(name: DnsName): string {
    const { key } = name
    if (key === this.apex.key || key === this.#wildcard.key || this.#isServer(key)) return key
    const closest = this.#closestEncloser(name)
    if (closest === key) return key
    // Distinct from all keys, which end with the root label.
    return this.#setsByWildcard(closest) === undefined ? `${closest}!` : wildcardOf(closest)
  }

  /** Changes with each version. */
  startOfAuthority(): RecordSet {
    if (this.#soa === undefined) {
      const clock = Math.floor(this.#wallClock() / SERIAL_STEP_MS)
      this.#serial = Math.max(this.#serial + 1, clock)
      const mailbox = DnsName.parse(`${MAILBOX_LABEL}.${this.apex}`)
      const serial = this.#serial % 2 ** 32
      const soa = { primary: this.#servers[0]!, mailbox, serial, ...SECONDARIES, minimum: ADDRESS_TTL_S }
      this.#soa = recordSet(TYPE.SOA, ADDRESS_TTL_S, [soaData(soa)])
    }
    return this.#soa
  }

  #closestEncloser(name: DnsName): string {
    return this.#names.closestEncloser(name, (key, depth) => this.#exists(key, depth))
  }

  #apexSets(): readonly RecordSet[] {
    const sets = this.#names.setsAt(this.apex.key)
    return [this.startOfAuthority(), ...this.#fixedSets, ...this.#withHttps(sets)]
  }

  /** The name servers' addresses are those of the root host. */
  #addresses(): readonly RecordSet[] {
    return this.#names.setsAt(this.apex.key).filter(({ type }) => ADDRESS_TYPES.includes(type))
  }

  #setsOfWildcard(): readonly RecordSet[] {
    this.#wildcardSets ??= this.#withHttps(this.#names.setsAt(this.#wildcard.key))
    return this.#wildcardSets
  }

  /** The records of a name that exists only by a wildcard (RFC 4592 §3.3.2); undefined where there is none. */
  #setsByWildcard(closestEncloser: string): readonly RecordSet[] | undefined {
    const source = wildcardOf(closestEncloser)
    const sets = source === this.#wildcard.key ? this.#setsOfWildcard() : this.#names.setsAt(source)
    return sets.length > 0 || this.#names.hasBelow(source) ? sets : undefined
  }

  /**
   * A host with only the wildcard's addresses need not exist: the wildcard answers for it.
   * It is then indistinguishable from a name without a site, even by queries for names below it.
   */
  #exists(key: string, depth: number): boolean {
    if (this.#names.hasBelow(key) || this.#isServer(key)) return true
    if (!this.#names.has(key)) return false
    if (depth > 1 || !isHostLabel(firstLabel(key))) return true
    const wildcard = this.#setsOfWildcard()
    return this.#names.setsAt(key).some((set) => !isSameSet(set, setOf(wildcard, set.type)))
  }

  #isHost(name: DnsName): boolean {
    return name.labelCount === this.apex.labelCount + 1 && isHostLabel(firstLabel(name.key))
  }

  /**
   * A host with its own records, or with names below it, keeps the wildcard's addresses; otherwise a site would become
   * unreachable because of its own TXT records.
   */
  #asHost(own: readonly RecordSet[]): readonly RecordSet[] {
    const isMissing = ({ type }: RecordSet): boolean =>
      (ADDRESS_TYPES.includes(type) || type === TYPE.HTTPS) && setOf(own, type) === undefined
    return this.#withHttps([...own, ...this.#setsOfWildcard().filter(isMissing)])
  }

  #withHttps(sets: readonly RecordSet[]): readonly RecordSet[] {
    const hasAddress = sets.some(({ type }) => ADDRESS_TYPES.includes(type))
    const needsHttps = this.#https !== undefined && hasAddress && setOf(sets, TYPE.HTTPS) === undefined
    return needsHttps ? [...sets, this.#https!] : sets
  }

  #isServer(key: string): boolean {
    return this.#servers.some((server) => server.key === key)
  }

  /** @throws RangeError */
  #check(name: DnsName, { type }: ZoneChange): void {
    if (!name.isBelowOrAt(this.apex)) throw new RangeError(`${name} is not in the zone ${this.apex}`)
    if (!CHANGEABLE.includes(type)) throw new RangeError(`Records of type ${type} cannot be changed`)
    if (this.#isServer(name.key)) throw new RangeError(`${name} is a name server of the zone`)
  }
}

/** @throws RangeError */
function checkedSet({ type, ttl, data }: Extract<ZoneChange, { kind: 'set' }>): RecordSet {
  const needed = ADDRESS_OCTETS.get(type)
  if (data.length === 0 || data.some(({ length }) => length === 0 || (needed ?? length) !== length))
    throw new RangeError(`A record of type ${type} has a wrong length`)
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > TTL_MAX_S) throw new RangeError(`${ttl} is not a TTL`)
  if (data.reduce((sum, { length }) => sum + length, 0) > RECORD_SET_MAX_OCTETS)
    throw new RangeError(`The records of a name and type have more than ${RECORD_SET_MAX_OCTETS} octets`)
  return recordSet(type, ttl, data)
}

function setOf(sets: readonly RecordSet[], type: number): RecordSet | undefined {
  return sets.find((set) => set.type === type)
}

/** Returns whether a label is a host's. Those that begin with an underscore are not (RFC 8552). */
function isHostLabel(label: string): boolean {
  return label !== '*' && !label.startsWith('_')
}

function steady(sets: readonly RecordSet[]): FoundName | undefined {
  return sets.length > 0 ? { sets, isSteady: true } : undefined
}

function varying(sets: readonly RecordSet[] | undefined): FoundName | undefined {
  return sets && { sets, isSteady: false }
}
