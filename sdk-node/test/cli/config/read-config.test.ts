// The config file: the option that each field becomes, and one clear line for each error in it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/cli/config/read-config.ts'
import { TEMPLATE, writeTemplate } from '../../../src/cli/config/template.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-config-'))
  path = join(folder, 'svc.toml')
})
afterEach(() => rm(folder, { recursive: true }))

const ENV = { XDG_CONFIG_HOME: '/home/a/.config' }

async function read(text: string, env: NodeJS.ProcessEnv = ENV): ReturnType<typeof readConfig> {
  await writeFile(path, text)
  return readConfig(path, env)
}

const DEFAULTS = {
  json: false,
  discover: 0,
  identityPath: '/home/a/.config/svc/identity.json',
  carrier: 'native',
  allowCanonical: false,
  banMitm: false,
  overlay: false,
  listed: false,
  allowField: [],
  inspect: false,
  logAddresses: 'short',
  tag: [],
  route: [],
  header: [],
  requestHeader: [],
  cors: [],
  maintenance: false,
}

describe('svc.toml', () => {
  it('may begin with the byte-order mark of an editor', async () => {
    const [command] = await read('\uFEFFrelay = "https://a.example"\n[[tunnel]]\nhttp = 3000\n')
    expect(command).toMatchObject({ command: 'expose', options: { relay: ['https://a.example'] } })
  })

  it('is one command a tunnel, each with its own in place of what all share', async () => {
    const commands = await read(`
      relay = "https://a.example"
      ca = "ca.pem"
      listed = true
      owner = "Somebody"
      [[tunnel]]
      name = "web"
      description = "A demo"
      tags = ["one", "two"]
      thumbnail = "./logo.png"
      http = 3000
      tcp = "db:5432"
      target_ca = "sub/target.pem"
      host = "rewrite"
      target_server_name = "app.internal"
      tls_min_version = "TLSv1.2"
      routes = { "/api" = 3001, "/docs" = "./docs", "/abs" = "/srv" }
      [[tunnel]]
      name = "files"
      relay = ["https://b.example", "https://c.example"]
      listed = false
      ca = "/etc/ca.pem"
      folder = "public"
      listing = true
      cache = true
      cache_ttl = 60
      thumbnail = "https://a.example/logo.png"
      identity_path = "mine.json"
    `)
    expect(commands).toEqual([
      {
        command: 'expose',
        target: '3000',
        options: {
          ...DEFAULTS,
          relay: ['https://a.example'],
          ca: join(folder, 'ca.pem'),
          listed: true,
          owner: 'Somebody',
          description: 'A demo',
          tag: ['one', 'two'],
          thumbnail: join(folder, 'logo.png'),
          name: 'web',
          tcp: 'db:5432',
          targetCa: join(folder, 'sub/target.pem'),
          hostHeader: 'rewrite',
          targetServerName: 'app.internal',
          tlsMinVersion: 'TLSv1.2',
          route: ['/api=3001', `/docs=${join(folder, 'docs')}`, '/abs=/srv'],
        },
      },
      {
        command: 'serve',
        folder: join(folder, 'public'),
        options: {
          ...DEFAULTS,
          relay: ['https://b.example', 'https://c.example'],
          ca: '/etc/ca.pem',
          identityPath: join(folder, 'mine.json'),
          owner: 'Somebody',
          thumbnail: 'https://a.example/logo.png',
          name: 'files',
          listing: true,
          spa: false,
          hidden: false,
          cache: true,
          cacheTtl: 60,
        },
      },
    ])
  })

  it('says who is paid for all tunnels at once, which concerns those that have a price', async () => {
    const commands = await read(`
      relay = "https://a.example"
      x402_pay_to = "0x5e"
      x402_network = "sui:testnet"
      x402_facilitator = "self"
      x402_endpoints = ["https://one.example", "https://two.example"]
      [[tunnel]]
      name = "shop"
      routes = { "/paid" = "3001 GET:0.01", "/free" = 3002, "/files" = "./my files *:1" }
      [[tunnel]]
      name = "free"
      http = 3000
    `)
    expect(commands.map(({ options }) => options)).toEqual([
      {
        ...DEFAULTS,
        relay: ['https://a.example'],
        name: 'shop',
        route: ['/paid=3001 GET:0.01', '/free=3002', `/files=${join(folder, 'my files *:1')}`],
        x402PayTo: '0x5e',
        x402Network: 'sui:testnet',
        x402Facilitator: 'self',
        x402Endpoints: ['https://one.example', 'https://two.example'],
      },
      { ...DEFAULTS, relay: ['https://a.example'], name: 'free' },
    ])
  })

  it('leaves the relay to SVC_URL, the identity to IDENTITY_PATH, and a single tunnel without a name', async () => {
    const env = { SVC_URL: 'https://env.example', IDENTITY_PATH: '/id.json' }
    const [command] = await read('[[tunnel]]\ntls = 8443\n', env)
    expect(command).toEqual({
      command: 'expose',
      target: undefined,
      options: { ...DEFAULTS, relay: ['https://env.example'], identityPath: '/id.json', tls: '8443' },
    })
  })

  it.each<[string, string, string]>([
    ['a syntax error', 'relay = "https://a.example"\n[[tunnel]\n', ':2:9: '],
    ['a key twice', 'listed = true\nlisted = false\n', ':2:'],
    ['no tunnel', 'relay = "https://a.example"', ': there is no [[tunnel]]'],
    [
      'tunnels that are all paused',
      'relay = "https://a.example"\n[[tunnel]]\npaused = true',
      ': every [[tunnel]] is paused',
    ],
    ['a tunnel that is a table', '[tunnel]\nhttp = 1', ': tunnel is not a list of tables: write [[tunnel]]'],
    ['an invalid agent', 'agent = 1\n[[tunnel]]', ': agent is not a table'],
    [
      'an unknown field of the agent',
      '[agent]\nport = 1',
      ': agent: port is not known; known are control_addr, allowed_wallets',
    ],
    [
      'an invalid wallet',
      '[agent]\nallowed_wallets = ["0x1"]',
      ': agent: allowed_wallets: "0x1" is not an address',
    ],
    [
      'a wallet that is no string',
      '[agent]\nallowed_wallets = [1]',
      ': agent: allowed_wallets is not a list of wallet',
    ],
    [
      'a wallet with a wrong checksum',
      '[[tunnel]]\nallow_wallets = ["0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]',
      ': tunnel 1: allow_wallets: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" has a wrong checksum',
    ],
    [
      'a network on which nobody pays',
      'x402_network = "sui:devnet"\n[[tunnel]]',
      ': x402_network is not "sui:mainnet" or "sui:testnet"',
    ],
    ['an invalid tunnel', 'tunnel = [1]', ': tunnel 1: is not a table'],
    ['an unknown field', 'port = 1\n[[tunnel]]', ': port is not known; known are relay, '],
    ['an unknown field of a tunnel', '[[tunnel]]\nhtpp = 1', ': tunnel 1: htpp is not known; known are '],
    ['a field that only tunnels have', 'http = 1\n[[tunnel]]', ': http is not known'],
    ['a field that every object has', 'toString = 1\n[[tunnel]]', ': toString is not known'],
    ['a prototype', '__proto__ = { http = 1 }\n[[tunnel]]', ': __proto__ is not known'],
    ['an invalid port', '[[tunnel]]\nhttp = 1.5', ': tunnel 1: http is not a port or a string'],
    ['an empty name', '[[tunnel]]\nname = ""', ': tunnel 1: name is not a string'],
    [
      'no relay',
      '[[tunnel]]\nhttp = 1',
      ': tunnel 1: relay is missing, and neither SVC_URL nor svc config has one',
    ],
    ['an empty list of relays', 'relay = []\n[[tunnel]]', ': relay is not a URL or a list of URLs'],
    [
      'the key of before',
      'hide = true\n[[tunnel]]',
      ': hide is gone: a site is on no list unless it has listed = true',
    ],
    ['a switch that is text', 'listed = "yes"\n[[tunnel]]', ': listed is not true or false'],
    [
      'an invalid carrier',
      'carrier = "pigeon"\n[[tunnel]]',
      ': carrier is not "native", "native-sessions" or "websocket"',
    ],
    [
      'routes that are a list',
      '[[tunnel]]\nroutes = ["/a"]',
      ': tunnel 1: routes is not a table of ports or strings',
    ],
    [
      'a second tunnel without a name',
      'relay = "https://a.example"\n[[tunnel]]\nname = "a"\n[[tunnel]]',
      ': tunnel 2: name is missing',
    ],
    [
      'a name twice',
      'relay = "https://a.example"\n[[tunnel]]\nname = "a"\n[[tunnel]]\nname = "a"',
      ': tunnel 2: name "a" is there twice',
    ],
    [
      'a folder and a server',
      'relay = "https://a.example"\n[[tunnel]]\nfolder = "."\nhttp = 1',
      ': tunnel 1: folder excludes http, tls, tcp, udp and proxy_protocol',
    ],
    [
      'a copy of a server',
      'relay = "https://a.example"\n[[tunnel]]\nhttp = 1\ncache = true',
      ': tunnel 1: cache needs folder',
    ],
    [
      'a time for a copy that is not kept',
      'relay = "https://a.example"\n[[tunnel]]\nfolder = "."\ncache_ttl = 60',
      ': tunnel 1: cache_ttl is for cache = true',
    ],
    [
      'a rule that does not exist',
      'relay = "https://a.example"\n[[tunnel]]\nhttp = 1\n[tunnel.rules]\nredirect = []',
      ': tunnel 1: rules.redirect is not known; known are maintenance, redirects, rewrites, cors, request_headers',
    ],
    [
      'a wrong rule of several',
      'relay = "https://a.example"\n[[tunnel]]\nhttp = 1\n[[tunnel.rules.request_headers]]\nset = {}\n[[tunnel.rules.request_headers]]\nset = { Host = "a" }',
      ': tunnel 1: rules.request_headers[1].set.Host cannot be changed: the option host',
    ],
    [
      'rules that are no table',
      'relay = "https://a.example"\n[[tunnel]]\nhttp = 1\nrules = true',
      ': tunnel 1: rules is not a table of rules',
    ],
    ['an invalid time', '[[tunnel]]\ncache_ttl = "1h"', ': tunnel 1: cache_ttl is not a whole number'],
    [
      'a copy at a relay that is not trusted',
      'relay = "https://a.example"\nban_mitm = true\n[[tunnel]]\nfolder = "."\ncache = true',
      ': tunnel 1: cache excludes ban_mitm',
    ],
  ])('with %s is refused in one line', async (_, text, message) => {
    const refusal = await read(text).catch((error) => error)
    expect(refusal).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(path + message),
    })
    expect(refusal.message).not.toContain('\n')
  })

  it('has the traffic rules of a tunnel, in tables and in lists of tables', async () => {
    const [command] = await read(`
      relay = "https://a.example"
      [[tunnel]]
      http = 3000
      [tunnel.rules]
      request_body = { max_size = "10MB" }
      [tunnel.rules.cors]
      origins = ["https://app.example"]
      max_age = 600
      [[tunnel.rules.redirects]]
      path = "/old_path/*"
      to = "/new_path/*"
      [[tunnel.rules.response_headers]]
      set = { X_My_Field = "a_b", Cache-Control = "no-store" }
    `)
    expect(command!.options.rules).toEqual({
      requestBody: { maxSize: '10MB' },
      cors: { origins: ['https://app.example'], maxAge: 600 },
      redirects: [{ path: '/old_path/*', to: '/new_path/*' }],
      responseHeaders: [{ set: { X_My_Field: 'a_b', 'Cache-Control': 'no-store' } }],
    })
  })

  it('that is not there is refused with how to make one', async () => {
    await expect(readConfig(path, ENV)).rejects.toMatchObject({
      message: expect.stringContaining('svc config init'),
    })
  })
})

describe('the template', () => {
  it('is never written over what is there', async () => {
    expect(await writeTemplate(path)).toBe(path)
    expect(await readFile(path, 'utf8')).toBe(TEMPLATE)
    await writeFile(path, 'mine')
    await expect(writeTemplate(path)).rejects.toMatchObject({ code: 'invalid_option' })
    expect(await readFile(path, 'utf8')).toBe('mine')
  })

  it('needs a relay, and is right with all that it explains', async () => {
    const [command] = await read(TEMPLATE, { ...ENV, SVC_URL: 'https://env.example' })
    expect(command).toMatchObject({ command: 'expose', target: '3000', options: { name: 'demo' } })
    // the relay is explained in two forms
    const whole = TEMPLATE.replace('#relay = [', '## relay = [').replace(/^#(?=[a-z[])/gm, '')
    const commands = await read(whole)
    const names = ['demo', 'files', 'passthrough', 'database', 'game']
    expect(commands.map(({ options }) => options.name)).toEqual(names)
    expect(commands[0]!.options).toMatchObject({
      discover: 3,
      allowCanonical: true,
      banMitm: true,
      listed: true,
    })
  })
})
