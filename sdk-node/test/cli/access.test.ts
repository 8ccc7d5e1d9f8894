// `svc expose` with passwords and tokens, at a real relay: from the command line, files, the environment and svc.toml.

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { programFile } from '../../../tools/bundler/programs.ts'
import { startOidcIssuer } from '../../../tools/oidc/issuer.ts'
import { accessOptions } from '../../src/cli/commands/access-options.ts'
import { visit } from '../support/exposed.ts'
import { environment, reported } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const TOKEN = 'a-token-that-is-long'
const own = useSvcAtRelay()
const { at, svc } = own
afterEach(() => {
  delete process.env.TEST_TOKEN
})

async function statuses(url: string): Promise<(number | undefined)[]> {
  const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
  const found: (number | undefined)[] = []
  for (const authorization of [
    basic('alice:one,two'),
    basic(':of all'),
    `Bearer ${TOKEN}`,
    basic('alice:of all'),
  ])
    found.push((await visit(own.relay, url, '/', { headers: { authorization } })).statusCode)
  return found
}

it('takes a hash, a file and the environment for secrets', async () => {
  const input = 'of all\n'
  const printed = spawnSync(process.execPath, [programFile('svc'), 'hash-password'], {
    input,
    env: environment(own.home),
  })
  const hash = String(printed.stdout).trim()
  expect(hash).toMatch(/^scrypt:[\w-]{22}:[\w-]{43}$/)
  await writeFile(join(own.home, 'alice.txt'), 'one,two\r\n')
  process.env.TEST_TOKEN = TOKEN
  const user = `alice:file:${join(own.home, 'alice.txt')}`
  const secrets = ['--password', hash, '--user', user, '--bearer', 'env:TEST_TOKEN']
  const { url } = await reported(svc('expose', own.port, ...secrets, ...at()), 'online')
  expect(await statuses(url!)).toEqual([200, 200, 200, 401])
})

it('reads the same from svc.toml, with paths that are relative to it', async () => {
  await writeFile(join(own.home, 'alice.txt'), 'one,two\n')
  await writeFile(
    join(own.home, 'svc.toml'),
    `relay = "${own.relay.origin}"
ca = "${own.relay.caFile}"
[[tunnel]]
http = ${own.port}
[tunnel.access]
password = "of all"
users = { alice = "file:alice.txt" }
bearer = "${TOKEN}"
`,
  )
  const { url } = await reported(svc('start', '--config', join(own.home, 'svc.toml'), '--json'), 'online')
  expect(await statuses(url!)).toEqual([200, 200, 200, 401])
})

it('has flags for networks, the end, the one visitor, the number of visitors and their rate', async () => {
  const flags = [
    '--deny-ip',
    '127.0.0.3',
    '--allow-ip',
    '127.0.0.0/8',
    '--expires',
    '1h',
    '--max-visitors',
    '5',
  ]
  const run = svc('expose', own.port, ...flags, '--rate', '1/h', ...at())
  const { url } = await reported(run, 'online')
  const statusFrom = async (localAddress: string): Promise<number | undefined> =>
    (await visit(own.relay, url!, '/', { localAddress })).statusCode
  expect(await statusFrom('127.0.0.3')).toBe(403)
  expect([await statusFrom('127.0.0.4'), await statusFrom('127.0.0.4')]).toEqual([200, 429])
  const one = svc('expose', own.port, '--name', 'one', '--once', ...at())
  expect((await visit(own.relay, (await reported(one, 'online')).url!, '/')).statusCode).toBe(401)
})

it('a time from now begins once, and a later attempt does not change it', async () => {
  const flags = { expires: '2h' }
  const { expires } = (await accessOptions(flags))!
  expect((await accessOptions(flags))!.expires).toEqual(expires)
  expect(Number(expires)).toBeLessThanOrEqual(Date.now() + 7_200_000)
})

it('sends visitors to an issuer of OpenID Connect, by flags and by svc.toml', async () => {
  const issuer = await startOidcIssuer(
    [{ id: 'site', secret: 'secret', redirectUris: ['https://a.example/'] }],
    {},
  )
  process.env.TEST_TOKEN = 'secret'
  const flags = ['--oidc', issuer.url, '--oidc-client-id', 'site', '--oidc-client-secret', 'env:TEST_TOKEN']
  const who = ['--oidc-allow', '@example.org,alice', '--oidc-group', 'cn=staff,o=a', '--oidc-scope', 'groups']
  const toml = `relay = "${own.relay.origin}"
ca = "${own.relay.caFile}"
[[tunnel]]
http = ${own.port}
[tunnel.access]
oidc = "${issuer.url}"
oidc_client_id = "site"
oidc_client_secret = "env:TEST_TOKEN"
oidc_groups = ["cn=staff,o=a"]
oidc_groups_claim = "memberOf"
oidc_scopes = ["groups"]
`
  await writeFile(join(own.home, 'svc.toml'), toml)
  const args = [
    ['expose', own.port, ...flags, ...who, ...at()],
    ['start', '--config', join(own.home, 'svc.toml'), '--json'],
  ]
  for (const each of args) {
    const run = svc(...each)
    const { url } = await reported(run, 'online')
    const { statusCode, headers } = await visit(own.relay, url!, '/', { headers: { accept: 'text/html' } })
    const { origin, searchParams } = new URL(headers.location!)
    expect([statusCode, origin, searchParams.get('scope')]).toEqual([303, issuer.url, 'openid groups'])
    expect(searchParams.get('redirect_uri')).toBe(`${new URL(url!).origin}/.svc/access/oidc/callback`)
    await run.stop()
  }
  issuer.close()
})

it.each([
  ['a user without a password', ['--user', 'secret'], '--user has to be NAME:PASSWORD'],
  ['a file that is not there', ['--password', 'file:/none'], '--password: /none cannot be read'],
  ['a variable that is not there', ['--bearer', 'env:NOT_THERE'], 'there is no NOT_THERE in the environment'],
  ['two from standard input', ['--password', '-', '--bearer', '-'], 'only one secret can be read'],
  ['a token that is short', ['--bearer', 'secret'], 'access.bearer has to have 16 characters'],
  ['a hash that is none', ['--password', 'scrypt:secret'], 'access.password is no hash'],
  ['an issuer alone', ['--oidc', 'https://a.example'], '--oidc needs --oidc-client-id'],
  ['a registration alone', ['--oidc-client-id', 'a'], '--oidc is missing'],
  [
    'an issuer for everybody',
    ['--oidc', 'https://a.example', '--oidc-client-id', 'a'],
    '--oidc needs --oidc-allow',
  ],
  [
    'an issuer that can be read on the way',
    [
      '--oidc',
      'http://a.example',
      '--oidc-client-id',
      'a',
      '--oidc-allow',
      'b',
      '--oidc-client-secret',
      'secret',
    ],
    'access.oidc.issuer has to be a URL with https:',
  ],
  ['a port beside it', ['--password', 'secret', '--tcp', '1'], 'access excludes tls, tcp, udp and cache'],
])('%s is an error without the secret', async (_, args, message) => {
  const run = svc('expose', own.port, ...args, ...at())
  expect(await run.ended).toBe(2)
  expect(run.out.join()).toContain(message)
  expect(run.out.join()).not.toContain('secret"')
})
