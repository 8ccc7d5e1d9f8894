// `svc domain`: the DNS records of a custom domain, whether they are there, and setting them at a DNS provider.

import { DnsClient } from '@svc/dns/client'
import { CredentialError, DnsProviderError } from '@svc/dns/providers'
import { canonicalLabel, nameOfAddress, normalizeName } from '@svc/protocol'
import { identityFromKey, parseRelay, SvcError } from '@svc/sdk-core'
import { accountRecords } from '../../domain-records/acme-accounts.ts'
import { checkRecords } from '../../domain-records/check-records.ts'
import { planChanges } from '../../domain-records/plan-changes.ts'
import { openRecordStore } from '../../domain-records/record-store.ts'
import {
  parseDomain,
  type WantedRecord,
  type WantedRecords,
  wantedRecords,
} from '../../domain-records/wanted-records.ts'
import { loadIdentityFile } from '../../identity/identity-file.ts'
import { NO_RELAY } from '../options/command-line.ts'
import type { DomainCommand } from '../options/parsed-command.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import type { Reporter } from '../report/report.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Keyboard } from '../tui/keyboard.ts'

/** Time for all questions to the DNS. */
const DNS_DEADLINE_MS = 30_000
const SILENT = `the DNS gave no answer within ${DNS_DEADLINE_MS / 1000} s`

/** @returns `EXIT.differs` when `check` finds a record that is not as it has to be */
export async function obeyDomain(
  chosen: DomainCommand,
  tell: Reporter,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { server } = chosen.options
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(SILENT)), DNS_DEADLINE_MS)
  const client = new DnsClient({ signal: late.signal, ...(server.length > 0 && { servers: server }) })
  try {
    const wanted = await wantedOf(chosen, client)
    if (chosen.command === 'domain check') return await check(wanted, client, tell)
    if (chosen.command === 'domain set') await set(chosen, wanted, client, tell, surroundings)
    else showRecords(wanted, tell)
    return EXIT.ok
  } catch (error) {
    if (error instanceof CredentialError)
      throw new SvcError('invalid_option', error.message, { cause: error })
    const isOfDns = error instanceof DnsProviderError || (error as Error).name === 'Error'
    if (!isOfDns) throw error
    const { message } = error as Error
    tell({ event: 'failed', code: 'dns_failed', message, exit_code: EXIT.failed })
    return EXIT.failed
  } finally {
    clearTimeout(timer)
  }
}

async function wantedOf({ domain, options }: DomainCommand, client: DnsClient): Promise<WantedRecords> {
  const [first, ...others] = options.relay
  if (first === undefined) throw new SvcError('invalid_option', NO_RELAY)
  if (others.length > 0)
    throw new SvcError('invalid_option', 'a domain leads to one relay: name it with --relay')
  const { address } = identityFromKey(await loadIdentityFile(options.identityPath))
  const name = normalizeName(options.name ?? nameOfAddress(address))
  if (name === undefined) throw new SvcError('invalid_option', `${options.name} is no name of a site`)
  const canonical = `${canonicalLabel(name, address.toLowerCase())}.${parseRelay(first).hostname}`
  return await wantedRecords({
    domain: parseDomain(domain),
    owner: address,
    canonical,
    byName: options.cname,
    caa: await accountRecords(options.identityPath),
    client,
  })
}

function showRecords({ domain, records, alternative }: WantedRecords, tell: Reporter): void {
  for (const record of records) tell({ event: 'domain_record', domain, ...record, alternative: false })
  if (alternative) tell({ event: 'domain_record', domain, ...alternative, alternative: true })
}

async function check(wanted: WantedRecords, client: DnsClient, tell: Reporter): Promise<ExitCode> {
  const findings = await checkRecords(wanted, client)
  for (const finding of findings) tell({ event: 'domain_check', domain: wanted.domain, ...finding })
  return findings.every(({ state }) => state === 'ok') ? EXIT.ok : EXIT.differs
}

async function set(
  { options: { provider, yes } }: Extract<DomainCommand, { command: 'domain set' }>,
  wanted: WantedRecords,
  client: DnsClient,
  tell: Reporter,
  { env, print, asked, keyboard }: Surroundings,
): Promise<void> {
  const { domain } = wanted
  const signal = asked()
  const store = await openRecordStore({ provider, domain, env, signal, client })
  const { add, kept, warnings } = await planChanges(wanted, store)
  const say = (change: 'kept' | 'planned' | 'added', records: readonly WantedRecord[]): void => {
    for (const record of records) tell({ event: 'domain_change', domain, change, ...record })
  }
  say('kept', kept)
  for (const message of warnings) tell({ event: 'error', code: 'unprotected', message })
  if (add.length === 0) return
  say('planned', add)
  if (!(yes || (await isConfirmed(keyboard, print, signal))))
    throw new SvcError('invalid_option', 'nothing was changed: --yes adds the records without a question')
  await store.add(add)
  say('added', add)
}

/** Asks on the terminal. @returns false without one */
async function isConfirmed(
  keyboard: Keyboard | undefined,
  { error }: Surroundings['print'],
  signal: AbortSignal,
): Promise<boolean> {
  if (keyboard === undefined) return false
  error('Add these records? [y/N]')
  const { promise, resolve } = Promise.withResolvers<string>()
  const take = (text: Buffer | string): void => resolve(text.toString())
  signal.addEventListener('abort', () => resolve(''), { once: true })
  keyboard.on('data', take)
  keyboard.resume()
  const answer = await promise
  keyboard.off('data', take)
  keyboard.pause()
  return /^\s*y(?:es)?\s*$/i.test(answer)
}
