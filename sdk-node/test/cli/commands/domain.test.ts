// `svc domain` against a real name server (bind9): the records to set, what each server has of them, and setting them by a command.

import { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { writeNsupdateCommand } from '../../../../relay/test/support/nsupdate-command.ts'
import { type Bind9, findBind9, startBind9 } from '../../../../tools/programs/bind9.ts'
import { runCommand } from '../../../src/cli/run-command.ts'
import { environment, runHere } from '../../support/svc.ts'

const DOMAIN = 'shop.example.test'
const RELAY = 'relay.test'

describe.skipIf(findBind9() === undefined)('svc domain', () => {
  let home: string
  let bind9: Bind9
  let provider: string
  let proof: { type: string; name: string; value: string }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-domain-'))
    bind9 = await startBind9({
      zone: 'test',
      records: [`*.relay A 192.0.2.1`, `*.relay AAAA 2001:db8::1`, `mail.example MX 10 mail.example`],
    })
    provider = `exec:${await writeNsupdateCommand(home, bind9)}`
    const run = runHere(home, ['identity', '--json'])
    await run.ended
    const { address } = JSON.parse(run.out[0]!)
    proof = { type: 'TXT', name: `_svc.${DOMAIN}`, value: `svc-address=${address.toLowerCase()}` }
  })
  beforeEach(() => bind9.update(`delete ${DOMAIN}.`, `delete _svc.${DOMAIN}.`))
  afterAll(async () => {
    await bind9.close()
    await rm(home, { recursive: true })
  })

  const argsOf = (command: string, domain: string, args: string[]): string[] => [
    ...['domain', command, domain, '--relay', `https://${RELAY}`, '--name', 'demo'],
    ...['--server', bind9.address, '--json', ...args],
  ]

  async function svc(command: string, ...args: string[]) {
    const run = runHere(home, argsOf(command, DOMAIN, args))
    const code = await run.ended
    const lines = run.out.filter(Boolean).map((line) => JSON.parse(line))
    return { code, said: lines.filter(({ event }) => event !== 'failed') }
  }

  const states = async (): Promise<Record<string, string>> => {
    const { said } = await svc('check')
    return Object.fromEntries(said.map(({ type, state }) => [type, state]))
  }

  it('prints the proof, and the addresses of the relay or a CNAME', async () => {
    const { code, said } = await svc('records')
    expect(code).toBe(0)
    expect(said).toMatchObject([
      proof,
      { type: 'A', name: DOMAIN, value: '192.0.2.1', alternative: false },
      { type: 'AAAA', name: DOMAIN, value: '2001:db8::1' },
      {
        type: 'CNAME',
        name: DOMAIN,
        value: `demo-${proof.value.slice(-40)}.${RELAY}`,
        alternative: true,
      },
    ])
    const named = await svc('records', '--cname')
    expect(named.said.map(({ type }) => type)).toEqual(['TXT', 'CNAME'])
  })

  it('says which record is missing, what another one has, and that all are there', async () => {
    const none = await svc('check')
    expect(none.code).toBe(8)
    expect(none.said).toMatchObject([
      { type: 'TXT', state: 'missing', message: `${bind9.address} has no such record` },
      { type: 'A', state: 'missing', message: `${bind9.address} has no such record` },
    ])
    bind9.update(
      `add ${proof.name}. 60 TXT "svc-address=0x${'0'.repeat(40)}"`,
      `add ${DOMAIN}. 60 A 203.0.113.9`,
    )
    const wrong = await svc('check')
    expect(wrong.said).toMatchObject([
      { state: 'wrong', message: expect.stringContaining('another identity') },
      { state: 'wrong', message: expect.stringContaining("203.0.113.9, which is not the relay's") },
    ])
    bind9.update(
      `add ${proof.name}. 60 TXT "${proof.value}"`,
      `delete ${DOMAIN}. A`,
      `add ${DOMAIN}. 60 A 192.0.2.1`,
    )
    expect(await states(), 'two owners').toEqual({ TXT: 'wrong', A: 'ok' })
    bind9.update(`delete ${proof.name}. TXT`, `add ${proof.name}. 60 TXT "${proof.value}"`)
    expect((await svc('check')).code).toBe(0)
  })

  it('takes a CNAME that leads to the canonical hostname, also through others', async () => {
    const canonical = `demo-${proof.value.slice(-40)}.${RELAY}`
    bind9.update(
      `add ${DOMAIN}. 60 CNAME alias.example.test.`,
      `add alias.example.test. 60 CNAME ${canonical}.`,
    )
    expect(await states()).toEqual({ TXT: 'missing', CNAME: 'ok' })
    const refused = await svc('set', '--provider', provider, '--yes')
    expect(refused.code).toBe(1)
    bind9.update('delete alias.example.test.')
  })

  it('sets what is missing by a command, once, and leaves the records of others', async () => {
    bind9.update(`add ${proof.name}. 60 TXT "of-another-program"`)
    const unasked = await svc('set', '--provider', provider)
    expect([unasked.code, unasked.said.map(({ change }) => change)]).toEqual([
      2,
      ['planned', 'planned', 'planned'],
    ])
    expect(await states()).toEqual({ TXT: 'missing', A: 'missing' })
    const done = await svc('set', '--provider', provider, '--yes')
    expect(done.code).toBe(0)
    expect(done.said.filter(({ change }) => change === 'added')).toMatchObject([
      proof,
      { type: 'A', value: '192.0.2.1' },
      { type: 'AAAA', value: '2001:db8::1' },
    ])
    expect(await states()).toEqual({ TXT: 'ok', A: 'ok' })
    const again = await svc('set', '--provider', provider, '--yes')
    expect(again.said.map(({ change }) => change)).toEqual(['kept', 'kept', 'kept'])
  })

  it('sets a CNAME on request', async () => {
    expect((await svc('set', '--provider', provider, '--yes', '--cname')).code).toBe(0)
    expect(await states()).toEqual({ TXT: 'ok', CNAME: 'ok' })
  })

  it('changes nothing where a record of others stands in the way, and names it', async () => {
    for (const [record, type] of [
      [`${DOMAIN}. 60 A 203.0.113.9`, 'A 203.0.113.9'],
      [`${DOMAIN}. 60 CNAME elsewhere.test.`, 'CNAME elsewhere.test'],
      [`${proof.name}. 60 TXT "svc-address=0x1"`, 'TXT svc-address=0x1'],
    ]) {
      bind9.update(`add ${record}`)
      const { code, said } = await svc('set', '--provider', provider, '--yes')
      expect([code, said]).toEqual([1, []])
      const failed = runHere(
        home,
        argsOf('set', DOMAIN, ['--provider', provider, '--yes']).filter((one) => one !== '--json'),
      )
      await failed.ended
      expect(failed.err.join('\n')).toContain(`has the record ${type}, which svc did not set`)
      bind9.update(`delete ${DOMAIN}.`, `delete ${proof.name}.`)
    }
  })

  it('asks on a terminal, and takes only yes', async () => {
    const ask = async (answer: string): Promise<number> => {
      const keyboard = Object.assign(new EventEmitter(), { setRawMode() {}, pause() {}, resume() {} })
      const print = {
        log: () => {},
        error: (text: string) =>
          void (text.startsWith('Add') && queueMicrotask(() => keyboard.emit('data', answer))),
      }
      const args = argsOf('set', DOMAIN, ['--provider', provider])
      const asked = (): AbortSignal => new AbortController().signal
      return await runCommand(args, { env: environment(home), print, terminal: undefined, keyboard, asked })
    }
    expect(await ask('n\n')).toBe(2)
    expect(await states()).toEqual({ TXT: 'missing', A: 'missing' })
    expect(await ask('y\n')).toBe(0)
    expect(await states()).toEqual({ TXT: 'ok', A: 'ok' })
  })

  it('refuses what is no domain, and a provider that it does not know or has no credentials of', async () => {
    const errorOf = async (domain: string, ...args: string[]): Promise<string> => {
      const run = runHere(home, argsOf('set', domain, args), { CLOUDFLARE_TOKEN: '' })
      expect(await run.ended).toBe(2)
      return JSON.parse(run.out.at(-1)!).message
    }
    for (const domain of ['localhost', '192.0.2.1', '*.example.test', 'a..b', `${'x'.repeat(64)}.test`])
      expect(await errorOf(domain, '--provider', provider)).toContain('is no domain')
    expect(await errorOf(DOMAIN, '--provider', 'nobody')).toContain('cloudflare')
    expect(await errorOf(DOMAIN, '--provider', 'exec:dns')).toContain('absolute path')
    expect(await errorOf(DOMAIN, '--provider', 'cloudflare')).toBe(
      'CLOUDFLARE_TOKEN is needed by the DNS provider cloudflare',
    )
  })

  it('says in one line that no name server answers', async () => {
    const args = argsOf('check', DOMAIN, []).map((one) => (one === bind9.address ? '127.0.0.1:1' : one))
    const run = runHere(
      home,
      args.filter((one) => one !== '--json'),
    )
    expect(await run.ended).not.toBe(0)
    expect([...run.out, ...run.err].join('\n')).toMatch(/127\.0\.0\.1:1 cannot be reached|no address/)
  })
})
