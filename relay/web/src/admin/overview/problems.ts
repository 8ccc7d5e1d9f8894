// What an operator has to decide about or to mend, each with the section that has it.
import type { AdminLoadResponse, DomainResponse, HeldCertificates, PolicyLease } from '@svc/protocol'
import { formatAgo } from '../../common/format.ts'
import { CERTIFICATES, PROBLEMS } from '../../texts/admin.ts'
import type { SectionId } from '../place.ts'
import { isWaiting } from '../sites/site-state.ts'

export interface Problem {
  section: SectionId
  text: string
  /** False for what only waits for a decision. */
  isWrong: boolean
}

export interface State {
  leases: readonly PolicyLease[]
  certificates: readonly HeldCertificates[]
  load: AdminLoadResponse
  relay: Pick<DomainResponse, 'ens'>
  /** In milliseconds since the epoch. */
  at: number
}

/** A certificate that ends within this time was not renewed as it should have been. */
const SOON_MS = 7 * 86_400_000

/** @returns what is wrong first */
export function problemsOf({ leases, certificates, load, relay, at }: State): Problem[] {
  const waiting = leases.filter(isWaiting).length
  const machines = load.machines ?? []
  const unreachable = machines.filter(({ state }) => state === 'unreachable').length
  const wrong = (section: SectionId, text: string): Problem => ({ section, text, isWrong: true })
  return [
    ...(load.redis === 'down' ? [wrong('machines', PROBLEMS.redis)] : []),
    ...(unreachable > 0 ? [wrong('machines', PROBLEMS.machines(unreachable))] : []),
    ...certificates.flatMap(({ host_kind, count, not_after, last_error, last_error_at }) => {
      const which = CERTIFICATES.hosts[host_kind](count)
      const isEnding = not_after !== '' && Date.parse(not_after) - at < SOON_MS
      if (last_error !== '')
        return [wrong('certificates', PROBLEMS.order(which, formatAgo(last_error_at, at)))]
      return isEnding ? [wrong('certificates', PROBLEMS.ending(which, formatAgo(not_after, at)))] : []
    }),
    ...(relay.ens.last_error === '' ? [] : [wrong('dns', PROBLEMS.dns(relay.ens.last_error))]),
    ...(waiting > 0 ? [{ section: 'access' as const, text: PROBLEMS.waiting(waiting), isWrong: false }] : []),
  ]
}
