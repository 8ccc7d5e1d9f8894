// The root host's zone: it accepts changes, and answers questions with signatures and proofs.

import { NO_NAME_BITMAP, nsecData, presentTypesBitmap } from '../dnssec/denial.ts'
import { type Clocks, SignatureCache, type SignaturePayer } from '../dnssec/signature-cache.ts'
import { Signer } from '../dnssec/signer.ts'
import type { ZoneKey } from '../dnssec/zone-key.ts'
import type {
  AnswerOptions,
  AuthoritativeZone,
  Question,
  ResourceRecord,
  ZoneAnswer,
  ZoneChange,
} from './answer.ts'
import { ADDRESS_TTL_S, STEADY_TTL_S } from './limits.ts'
import type { DnsName } from './name.ts'
import { minimalAnyData, TYPE } from './record-data.ts'
import { type RecordSet, recordSet } from './record-set.ts'
import { ZoneContent } from './zone-content.ts'

/** The parameters of a zone, in a form that can be posted to a thread. */
export interface ZoneParameters {
  key: ZoneKey
  /** Whether visitors use port 443, which an HTTPS record at a host's name implies (RFC 9460 §9.1). */
  hasDefaultPort: boolean
}

const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const
const SYSTEM_CLOCKS: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() }
const MINIMAL_ANY = recordSet(TYPE.HINFO, STEADY_TTL_S, [minimalAnyData()])

/** The client's properties that matter for signatures. */
interface Asker {
  dnssecOk: boolean
  payer: Exclude<SignaturePayer, 'nobody'>
}

/** Thrown and caught in this file when an answer needs a signature beyond the budget. */
class OutOfSignatures extends Error {}

export class Zone implements AuthoritativeZone {
  readonly #content: ZoneContent
  readonly #signatures: SignatureCache
  readonly #clocks: Clocks

  constructor({ key, hasDefaultPort }: ZoneParameters, clocks: Clocks = SYSTEM_CLOCKS) {
    this.#content = new ZoneContent(key, hasDefaultPort, clocks.wall)
    this.#signatures = new SignatureCache(new Signer(key))
    this.#clocks = clocks
  }

  get apex(): DnsName {
    return this.#content.apex
  }

  get version(): number {
    return this.#content.version
  }

  /**
   * A host one label below the apex has the wildcard's addresses if it has none of its own, so a site whose
   * addresses are the relay's needs no change at all.
   * @throws RangeError for a name outside of the zone, a name server, a type other than A, AAAA, TXT, CAA and HTTPS, data of a
   *   wrong length, and a name or data beyond the limits; nothing is changed then
   */
  apply(change: ZoneChange): void {
    this.#content.apply(change)
  }

  sourceOf(name: DnsName): string {
    return this.#content.sourceOf(name)
  }

  answer(question: Question, dnssecOk: boolean, options: AnswerOptions = {}): ZoneAnswer {
    if (!question.name.isBelowOrAt(this.apex)) return empty(RCODE.REFUSED)
    if (question.type === TYPE.NXNAME) return empty(RCODE.FORMERR)
    const isProven = options.isAddressProven === true
    try {
      const asker: Asker = { dnssecOk, payer: isProven ? { network: options.network ?? 0 } : 'anyone' }
      return this.#answer(question, asker, options.compactAnswersOk === true)
    } catch (error) {
      if (!(error instanceof OutOfSignatures)) throw error
      return isProven ? empty(RCODE.SERVFAIL) : { ...empty(RCODE.NOERROR), isTruncated: true }
    }
  }

  #answer({ name, type }: Question, asker: Asker, compactAnswersOk: boolean): ZoneAnswer {
    const found = this.#content.find(name)
    if (found === undefined) {
      const rcode = asker.dnssecOk && !compactAnswersOk ? RCODE.NOERROR : RCODE.NXDOMAIN
      return { rcode, answers: [], authority: this.#denial(name, NO_NAME_BITMAP, false, asker) }
    }
    const { sets, isSteady } = found
    const answered = (answers: ResourceRecord[]): ZoneAnswer => ({
      rcode: RCODE.NOERROR,
      answers,
      authority: [],
    })
    const set = sets.find((one) => one.type === type)
    if (set !== undefined) return answered(this.#records(name, set, isSteady, asker))
    if (type === TYPE.ANY && sets.length > 0)
      return answered(this.#records(name, MINIMAL_ANY, isSteady, asker))
    if (type === TYPE.RRSIG && sets.length > 0)
      return answered([this.#signature(name, sets[0]!, isSteady, asker)])
    const bitmap = presentTypesBitmap(sets.map((one) => one.type))
    if (type === TYPE.NSEC) return answered(this.#nsec(name, bitmap, isSteady, asker))
    return { rcode: RCODE.NOERROR, answers: [], authority: this.#denial(name, bitmap, isSteady, asker) }
  }

  /** Returns the authority section of a negative answer (RFC 2308 §2, RFC 9824 §3). */
  #denial(name: DnsName, bitmap: Buffer, isSteady: boolean, asker: Asker): ResourceRecord[] {
    const soa = this.#content.startOfAuthority()
    const records = this.#records(this.apex, soa, true, asker)
    return asker.dnssecOk ? [...records, ...this.#nsec(name, bitmap, isSteady, asker)] : records
  }

  #nsec(name: DnsName, bitmap: Buffer, isSteady: boolean, asker: Asker): ResourceRecord[] {
    const data = nsecData(name.key, this.apex.key, bitmap)
    return this.#records(name, recordSet(TYPE.NSEC, ADDRESS_TTL_S, [data]), isSteady, asker)
  }

  /** @throws OutOfSignatures */
  #records(name: DnsName, set: RecordSet, isSteady: boolean, asker: Asker): ResourceRecord[] {
    const { type, ttl } = set
    const records = set.data.map((data) => ({ name, type, ttl, data: Buffer.from(data, 'latin1') }))
    return asker.dnssecOk ? [...records, this.#signature(name, set, isSteady, asker)] : records
  }

  /** @throws OutOfSignatures */
  #signature(name: DnsName, set: RecordSet, isSteady: boolean, asker: Asker): ResourceRecord {
    const payer = isSteady ? 'nobody' : asker.payer
    const data = this.#signatures.signature(name.key, set, payer, this.#clocks)
    if (data === undefined) throw new OutOfSignatures()
    return { name, type: TYPE.RRSIG, ttl: set.ttl, data }
  }
}

function empty(rcode: number): ZoneAnswer {
  return { rcode, answers: [], authority: [] }
}
