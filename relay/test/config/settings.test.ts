// Settings: what the environment means, and a clear sentence for what it cannot mean.

import { Resolver } from 'node:dns'
import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import { PortPool } from '../../src/features/ports/port-pool.ts'
import { readSettings, SETTINGS } from '../../src/settings.ts'
import { startTestRelay } from '../support/relay.ts'

const URL = 'https://relay.example.com'

describe('readSettings', () => {
  test('path and query of SVC_URL are ignored; its port is bound unless SNI_PORT says otherwise', () => {
    const settings = readSettings({ SVC_URL: 'https://Relay.Example.com:8443/path?query' })
    expect(settings).toMatchObject({
      rootHost: 'relay.example.com',
      host: 'relay.example.com:8443',
      sniPort: 8443,
    })
    expect(readSettings({ SVC_URL: URL }).sniPort).toBe(443)
    expect(readSettings({ SVC_URL: URL, SNI_PORT: '4433' })).toMatchObject({
      host: 'relay.example.com',
      sniPort: 4433,
    })
  })

  test.each([
    ['9090', { host: '127.0.0.1', port: 9090 }],
    [':9090', { host: '127.0.0.1', port: 9090 }],
    ['0.0.0.0:9090', { host: '0.0.0.0', port: 9090 }],
    ['[::1]:9090', { host: '::1', port: 9090 }],
    ['metrics.internal:9090', { host: 'metrics.internal', port: 9090 }],
  ])('METRICS_ADDR %s; without a host it is loopback', (value, address) => {
    expect(readSettings({ SVC_URL: URL, METRICS_ADDR: value }).metricsAddress).toEqual(address)
  })

  test.each([
    [undefined, [{ host: undefined, port: 53 }]],
    ['5353', [{ host: undefined, port: 5353 }]],
    [
      '192.0.2.1:53, [2001:db8::1]:5353',
      [
        { host: '192.0.2.1', port: 53 },
        { host: '2001:db8::1', port: 5353 },
      ],
    ],
  ])('DNS_ADDR %s', (value, addresses) => {
    expect(readSettings({ SVC_URL: URL, DNS_ADDR: value }).dnsAddresses).toEqual(addresses)
  })

  test.each([
    ['https://relay.example', undefined, undefined],
    ['https://relay.localhost', undefined, '127.0.0.1'],
    ['https://localhost:4433', undefined, '127.0.0.1'],
    ['https://relay.localhost', '::', undefined],
    ['https://relay.localhost', '0.0.0.0', '0.0.0.0'],
    ['https://relay.example', '192.0.2.1', '192.0.2.1'],
  ])('%s with BIND_ADDRESS %s', (url, value, address) => {
    const env = { SVC_URL: url, BIND_ADDRESS: value, DNS_ADDR: '53,192.0.2.2:53', HTTP_REDIRECT_ADDR: '80' }
    const settings = readSettings(env)
    expect(settings.listenAddress).toBe(address)
    expect(settings.httpRedirectAddress).toEqual({ host: address, port: 80 })
    expect(settings.dnsAddresses.map(({ host }) => host)).toEqual([address, '192.0.2.2'])
  })

  test.each(['localhost', '192.0.2.1:443', '1.2.3'])('BIND_ADDRESS %s is refused', (value) => {
    expect(() => readSettings({ SVC_URL: URL, BIND_ADDRESS: value })).toThrow('is not an IP address')
  })

  test('BOOTSTRAPS are origins, each once', () => {
    const BOOTSTRAPS = 'https://A.example, https://b.example:8443/,https://a.example'
    expect(readSettings({ SVC_URL: URL, DISCOVERY: 'true', BOOTSTRAPS }).discovery).toEqual({
      isEnabled: true,
      bootstraps: ['https://a.example', 'https://b.example:8443'],
      allowsLoopback: false,
    })
    expect(readSettings({ SVC_URL: URL }).discovery).toMatchObject({ isEnabled: false, bootstraps: [] })
  })

  test.each([
    ['relay.example', 'BOOTSTRAPS: "relay.example" is not a URL'],
    ['http://relay.example', 'must begin with https://'],
    ['https://relay.example/admin', 'has more than a host and a port'],
    ['https://relay.example,', 'BOOTSTRAPS: "" is not a URL'],
    [Array.from({ length: 33 }, (_, at) => `https://r${at}.example`).join(), 'has more than 32 relays'],
  ])('BOOTSTRAPS %j is refused', (BOOTSTRAPS, message) =>
    expect(() => readSettings({ SVC_URL: URL, BOOTSTRAPS })).toThrow(message),
  )

  test('a password in BOOTSTRAPS is refused, and not repeated', () => {
    const read = () => readSettings({ SVC_URL: URL, BOOTSTRAPS: 'https://me:secret@relay.example' })
    expect(read).toThrow('BOOTSTRAPS')
    expect(read).not.toThrow('secret')
  })

  test('WIREGUARD_PORT is a port, and needs discovery', () => {
    const env = { SVC_URL: URL, WIREGUARD_PORT: '51820' }
    expect(() => readSettings(env)).toThrow('WIREGUARD_PORT: needs DISCOVERY=true')
    expect(readSettings({ ...env, DISCOVERY: 'true' }).overlay.wireguardPort).toBe(51_820)
    expect(readSettings({ SVC_URL: URL }).overlay.wireguardPort).toBeUndefined()
    for (const WIREGUARD_PORT of ['0', '65536', 'true', '51820 '])
      expect(() => readSettings({ ...env, DISCOVERY: 'true', WIREGUARD_PORT })).toThrow('WIREGUARD_PORT')
  })

  test('WIREGUARD_PORT is not the port of the datagram tunnels, and no site gets a port of the overlay', () => {
    const env = { SVC_URL: URL, DISCOVERY: 'true', WIREGUARD_PORT: '443' }
    expect(readSettings(env).overlay.wireguardPort).toBe(443)
    const tunnels = { ...env, UDP_ENABLED: 'true', MIN_PORT: '41819', MAX_PORT: '41822' }
    expect(() => readSettings(tunnels)).toThrow('WIREGUARD_PORT: 443 is the UDP port of datagram tunnels')
    const { reservedPorts, portRange } = readSettings({ ...tunnels, WIREGUARD_PORT: '41821' })
    const pool = new PortPool(portRange!, reservedPorts)
    expect([...pool.free('lease')].sort()).toEqual([41_819, 41_822])
    expect(readSettings({ SVC_URL: URL }).reservedPorts).toEqual([])
  })

  test('DISCOVERY on localhost is refused, unless it is a test', () => {
    const local = { SVC_URL: 'https://relay.localhost', DISCOVERY: 'true' }
    expect(() => readSettings(local)).toThrow('DISCOVERY: needs a public host')
    const settings = readSettings({ ...local, DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' })
    expect(settings.discovery.allowsLoopback).toBe(true)
  })

  test('without METRICS_ADDR there are no metrics', () =>
    expect(readSettings({ SVC_URL: URL }).metricsAddress).toBeUndefined())

  test('TRUSTED_PROXIES and the budgets', () => {
    const { trustedProxies, rateLimits } = readSettings({
      SVC_URL: URL,
      TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      SOURCE_BUDGET_PER_MINUTE: '50',
    })
    expect(['10.9.8.7', '::1', '192.0.2.1'].map((ip) => trustedProxies.has(ip))).toEqual([true, true, false])
    expect(rateLimits).toEqual({ networkPerMinute: 50, relayPerMinute: 600, sparesLoopback: false })
    expect(readSettings({ SVC_URL: URL }).rateLimits).toMatchObject({
      networkPerMinute: 10,
      sparesLoopback: false,
    })
    const local = { SVC_URL: 'https://relay.localhost' }
    expect(readSettings(local).rateLimits).toMatchObject({ networkPerMinute: 10, sparesLoopback: true })
    expect(readSettings({ ...local, SOURCE_BUDGET_PER_MINUTE: '10' }).rateLimits.sparesLoopback).toBe(false)
  })

  test('PUBLIC_IPS are addresses of both families, each in one spelling and once', () => {
    const PUBLIC_IPS = '192.0.2.1, 2001:DB8::0:1,::ffff:192.0.2.1 ,10.0.0.1'
    const { publicAddresses } = readSettings({ SVC_URL: URL, PUBLIC_IPS })
    expect(publicAddresses).toEqual({ ipv4: ['192.0.2.1', '10.0.0.1'], ipv6: ['2001:db8::1'] })
    expect(readSettings({ SVC_URL: URL }).publicAddresses).toEqual({})
  })

  test('PUBLIC_IPV4 and PUBLIC_IPV6 name the addresses of one family each', () => {
    const PUBLIC_IPV4 = '192.0.2.1,10.0.0.1'
    const { publicAddresses } = readSettings({ SVC_URL: URL, PUBLIC_IPV4 })
    expect(publicAddresses).toEqual({ ipv4: ['192.0.2.1', '10.0.0.1'] })
    const both = { PUBLIC_IPV4, PUBLIC_IPV6: '2001:DB8::0:1', PUBLIC_IPS: '192.0.2.9,2001:db8::9' }
    expect(readSettings({ SVC_URL: URL, ...both }).publicAddresses).toEqual({
      ipv4: ['192.0.2.1', '10.0.0.1'],
      ipv6: ['2001:db8::1'],
    })
    const PUBLIC_IPS = '192.0.2.9'
    expect(readSettings({ SVC_URL: URL, PUBLIC_IPS }).publicAddresses).toEqual({
      ipv4: [PUBLIC_IPS],
      ipv6: [],
    })
  })

  test('MIN_PORT and MAX_PORT are the range of dedicated ports', () => {
    const range = { MIN_PORT: '2000', MAX_PORT: '2000' }
    expect(readSettings({ SVC_URL: URL, ...range }).portRange).toEqual({ min: 2000, max: 2000 })
    const unchecked = { MIN_PORT: '80', MAX_PORT: '443', PORT_RANGE_UNCHECKED: 'true' }
    expect(readSettings({ SVC_URL: URL, ...unchecked }).portRange).toEqual({ min: 80, max: 443 })
    expect(readSettings({ SVC_URL: URL }).portRange).toBeUndefined()
  })

  test('SVC_WORKERS is 1, or up to the number of cores', () => {
    expect(readSettings({ SVC_URL: URL }).workers).toBe(1)
    const cores = availableParallelism()
    expect(readSettings({ SVC_URL: URL, SVC_WORKERS: `${cores}` }).workers).toBe(cores)
  })

  test('ACME_DNS_SERVERS are addresses, with a port or without', () => {
    const value = '192.0.2.1, 192.0.2.2:5353,[2001:db8::1]:53, 2001:db8::2'
    const { acmeDnsServers } = readSettings({ SVC_URL: URL, ACME_DNS_SERVERS: value })
    expect(acmeDnsServers).toEqual(['192.0.2.1', '192.0.2.2:5353', '[2001:db8::1]:53', '2001:db8::2'])
    new Resolver().setServers(acmeDnsServers!)
  })

  test('a setting of a feature that is not there, an unknown name of ours, and a slip of the pen are named', () => {
    const env = {
      ADMIN_TOKNE: 'the-secret',
      METRIC_ADDR: '9090',
      SNI_PROT: '4433',
      SVC_COLOUR: 'blue',
      SVC_WORKER: '4',
      TRUSTED_PROXY: '10.0.0.1',
      UDP_ENABLE: 'true',
      X402_PAY_TWO: '0x1',
      svc_url: URL,
    }
    const { unused } = readSettings({ SVC_URL: URL, ...env })
    expect(unused.map(({ name }) => name)).toEqual(Object.keys(env).sort())
    expect(JSON.stringify(unused)).not.toContain('the-secret')
    const whyOf = (name: string) => unused.find((one) => one.name === name)?.why
    expect(whyOf('X402_PAY_TWO')).toBe('this relay does not know it; is X402_PAY_TO meant?')
    expect(whyOf('ADMIN_TOKNE')).toBe('this relay does not know it; is ADMIN_TOKEN meant?')
    expect(whyOf('TRUSTED_PROXY')).toBe('this relay does not know it; is TRUSTED_PROXIES meant?')
    expect(whyOf('svc_url')).toBe('this relay does not know it; is SVC_URL meant?')
    expect(whyOf('SVC_COLOUR')).toBe('this relay does not know it')
  })

  test('a relay that starts names them in its log, and no value', async () => {
    let log = ''
    const relay = await startTestRelay(
      { X402_PAY_TWO: 'the-secret', ADMIN_TOKNE: 'the-secret' },
      { log: createLog('warn', { write: (line) => (log += line) }) },
    )
    await relay.close()
    expect(
      log
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        // It warns of pages that are not built, too.
        .filter(({ setting }) => setting !== undefined),
    ).toEqual([
      expect.objectContaining({ level: 40, setting: 'ADMIN_TOKNE' }),
      expect.objectContaining({ level: 40, setting: 'X402_PAY_TWO' }),
    ])
    expect(log).not.toContain('the-secret')
  })

  test('what others read is left alone, and so is what leaves a feature off', () => {
    const env = { X402_ENABLED: 'false', OVERLAY_CONFIG: '' }
    const others = [
      'PATH',
      'HOME',
      'PORT',
      'LOG_FILE',
      'NODE_ENV',
      'HTTP_PROXY',
      'NO_PROXY',
      'MAIL_PORT',
      'URL',
    ]
    const known = Object.fromEntries(SETTINGS.map(({ name }) => [name, '']))
    const set = Object.fromEntries(others.map((name) => [name, 'something']))
    expect(readSettings({ ...known, ...env, ...set, SVC_URL: URL }).unused).toEqual([])
  })

  test('an empty variable counts as unset', () => {
    const empty = Object.fromEntries(SETTINGS.map(({ name }) => [name, '']))
    expect(readSettings({ ...empty, SVC_URL: URL })).toEqual(readSettings({ SVC_URL: URL }))
  })

  test('the ACME authority is an https URL, also where it has a name', () => {
    const directoryOf = (env: Record<string, string>) => readSettings({ SVC_URL: URL, ...env }).acme.directory
    expect(directoryOf({})).toBe('https://acme-v02.api.letsencrypt.org/directory')
    expect(directoryOf({ ACME_DIRECTORY: 'staging' })).toContain('https://acme-staging-v02.api.letsencrypt')
    expect(directoryOf({ ACME_DIRECTORY: 'https://localhost:14000/dir' })).toBe('https://localhost:14000/dir')
  })

  test.each([
    [{}, /^SVC_URL: .*needed/],
    [{ SVC_URL: 'relay' }, /^SVC_URL: "relay" is not a URL/],
    [{ SVC_URL: 'http://relay.example.com' }, /^SVC_URL: must begin with https/],
    [{ SVC_URL: 'https://192.0.2.1' }, /^SVC_URL: needs a host name/],
    [{ SVC_URL: 'https://[2001:db8::1]' }, /^SVC_URL: needs a host name/],
    [{ SVC_URL: URL, SNI_PORT: '0' }, /^SNI_PORT: "0" is not a port/],
    [{ SVC_URL: URL, SNI_PORT: '443x' }, /^SNI_PORT/],
    [{ SVC_URL: URL, SNI_PORT: '65536' }, /^SNI_PORT/],
    [{ SVC_URL: URL, MIN_PORT: '1000' }, /^MAX_PORT: MIN_PORT and MAX_PORT must both be set/],
    [{ SVC_URL: URL, MAX_PORT: '1000' }, /^MIN_PORT: MIN_PORT and MAX_PORT must both be set/],
    [{ SVC_URL: URL, MIN_PORT: '1001', MAX_PORT: '1000' }, /^MAX_PORT: 1000 is below MIN_PORT/],
    [
      { SVC_URL: URL, MIN_PORT: '1023', MAX_PORT: '2000' },
      /^MIN_PORT: 1023 is below 1024.* 25, 53, 80 and 443/,
    ],
    [{ SVC_URL: URL, MIN_PORT: '443', MAX_PORT: '443' }, /^MIN_PORT: 443 is below 1024/],
    [
      { SVC_URL: `${URL}:4433`, MIN_PORT: '4000', MAX_PORT: '4999' },
      /has 4433, the relay's own \(SNI_PORT\)/,
    ],
    [
      { SVC_URL: URL, MIN_PORT: '4000', MAX_PORT: '4999', METRICS_ADDR: '4000' },
      /^MIN_PORT: 4000 to 4999 has 4000, the relay's own \(METRICS_ADDR\): PORT_RANGE_UNCHECKED=true/,
    ],
    [{ SVC_URL: URL, MIN_PORT: '0', MAX_PORT: '1000' }, /^MIN_PORT: "0" is not a port/],
    [{ SVC_URL: URL, MIN_PORT: '1', MAX_PORT: '65536' }, /^MAX_PORT: "65536" is not a port/],
    [{ SVC_URL: URL, SVC_WORKERS: '0' }, /^SVC_WORKERS: "0" is not a number from 1 to \d+, the cores/],
    [{ SVC_URL: URL, SVC_WORKERS: `${availableParallelism() + 1}` }, /^SVC_WORKERS: .* is not a number/],
    [{ SVC_URL: URL, SVC_WORKERS: 'all' }, /^SVC_WORKERS: "all" is not a number/],
    [{ SVC_URL: URL, ADMIN_TOKEN: 'two words' }, /^ADMIN_TOKEN: must consist of visible ASCII/],
    [{ SVC_URL: URL, ADMIN_TOKEN: 'fifteen-letters' }, /^ADMIN_TOKEN: needs 16 characters or more; openssl/],
    [{ SVC_URL: URL, LOG_LEVEL: 'loud' }, /^LOG_LEVEL: one of/],
    [{ SVC_URL: URL, TCP_ENABLED: 'yes' }, /^TCP_ENABLED: one of true, false is needed/],
    [
      { SVC_URL: URL, TRUSTED_PROXIES: '10.0.0.0/8, proxy' },
      /^TRUSTED_PROXIES: "proxy" is not an IP address/,
    ],
    [{ SVC_URL: URL, TRUSTED_PROXIES: '10.0.0.0/33' }, /^TRUSTED_PROXIES: "10.0.0.0\/33" needs a prefix/],
    [{ SVC_URL: URL, ENS_GASLESS_ENABLED: 'yes' }, /^ENS_GASLESS_ENABLED: one of true, false is needed/],
    [
      { SVC_URL: 'https://relay.localhost', ENS_GASLESS_ENABLED: 'true' },
      /^ENS_GASLESS_ENABLED: needs a public host: relay.localhost is not in the DNS/,
    ],
    [
      { SVC_URL: URL, ENS_GASLESS_ENABLED: 'true', ACME_DNS_PROVIDER: 'hetzner' },
      /^ENS_GASLESS_ENABLED: is not possible with ACME_DNS_PROVIDER=hetzner/,
    ],
    [
      { SVC_URL: URL, ENS_GASLESS_ENABLED: 'true', ACME_DNS_PROVIDER: 'njalla' },
      /^ENS_GASLESS_ENABLED: is not possible with ACME_DNS_PROVIDER=njalla/,
    ],
    [{ SVC_URL: URL, PUBLIC_IPS: '192.0.2.1,' }, /^PUBLIC_IPS: "" is not an IP address/],
    [{ SVC_URL: URL, PUBLIC_IPS: '192.0.2.0/24' }, /^PUBLIC_IPS: "192.0.2.0\/24" is not an IP address/],
    [{ SVC_URL: URL, PUBLIC_IPS: 'relay.example.com' }, /^PUBLIC_IPS: "relay.example.com" is not an IP/],
    [{ SVC_URL: URL, PUBLIC_IPS: 'fe80::1%eth0' }, /^PUBLIC_IPS: "fe80::1%eth0" is not an IP address/],
    [{ SVC_URL: URL, PUBLIC_IPS: '0.0.0.0' }, /^PUBLIC_IPS: "0.0.0.0" is not an address at which visitors/],
    [{ SVC_URL: URL, PUBLIC_IPV4: '2001:db8::1' }, /^PUBLIC_IPV4: "2001:db8::1" is not an IPv4 address/],
    [{ SVC_URL: URL, PUBLIC_IPV6: '192.0.2.1' }, /^PUBLIC_IPV6: "192.0.2.1" is not an IPv6 address/],
    [{ SVC_URL: URL, PUBLIC_IPS: '::' }, /^PUBLIC_IPS: "::" is not an address at which visitors/],
    [
      { SVC_URL: URL, ACME_DNS_PROVIDER: 'cloudfare' },
      /^ACME_DNS_PROVIDER: one of embedded, .*exec:\/path is/,
    ],
    [{ SVC_URL: URL, ACME_DNS_PROVIDER: 'exec:dns.sh' }, /^ACME_DNS_PROVIDER: "exec:dns.sh" has no absolute/],
    [
      { SVC_URL: URL, ACME_DNS_SERVERS: 'ns1.example.com' },
      /^ACME_DNS_SERVERS: "ns1.example.com" is not ADDR/,
    ],
    [{ SVC_URL: URL, ACME_DNS_SERVERS: '192.0.2.1:0' }, /^ACME_DNS_SERVERS: "0" is not a port/],
    [{ SVC_URL: URL, ACME_CERTIFICATES_PER_WEEK: '0' }, /^ACME_CERTIFICATES_PER_WEEK: "0" is not a whole/],
    [{ SVC_URL: URL, SOURCE_BUDGET_PER_MINUTE: '0' }, /^SOURCE_BUDGET_PER_MINUTE: "0" is not a whole number/],
    [{ SVC_URL: URL, SOURCE_BUDGET_PER_MINUTE: '1.5' }, /^SOURCE_BUDGET_PER_MINUTE/],
    [{ SVC_URL: URL, RELAY_BUDGET_PER_MINUTE: '-1' }, /^RELAY_BUDGET_PER_MINUTE/],
    [{ SVC_URL: URL, RELAY_BUDGET_PER_MINUTE: '1e12' }, /^RELAY_BUDGET_PER_MINUTE/],
    [{ SVC_URL: URL, METRICS_ADDR: 'localhost' }, /^METRICS_ADDR: "localhost" is not PORT, HOST:PORT/],
    [{ SVC_URL: URL, METRICS_ADDR: '::1:9090' }, /^METRICS_ADDR: "::1:9090" is not/],
    [{ SVC_URL: URL, METRICS_ADDR: '[127.0.0.1]:9090' }, /^METRICS_ADDR/],
    [{ SVC_URL: URL, METRICS_ADDR: 'a_b:9090' }, /^METRICS_ADDR/],
    [{ SVC_URL: URL, METRICS_ADDR: '65536' }, /^METRICS_ADDR: "65536" is not a port/],
    [
      { SVC_URL: URL, DNS_ADDR: 'ns1.example.com:53' },
      /^DNS_ADDR: "ns1.example.com:53" is not PORT, IP:PORT/,
    ],
    [{ SVC_URL: URL, DNS_ADDR: '192.0.2.1:53,' }, /^DNS_ADDR: "" is not PORT/],
    [{ SVC_URL: URL, DNS_ADDR: '[::1]:0' }, /^DNS_ADDR: "0" is not a port/],
    [{ SVC_URL: URL, ACME_AGREE: 'yes' }, /^ACME_AGREE: one of true, false is needed/],
    [{ SVC_URL: URL, ACME_DIRECTORY: 'http://ca.example/dir' }, /^ACME_DIRECTORY: .* an https URL/],
    [{ SVC_URL: URL, ACME_DIRECTORY: 'https://a:b@ca.example/dir' }, /^ACME_DIRECTORY/],
    [{ SVC_URL: URL, ACME_DIRECTORY: 'constructor' }, /^ACME_DIRECTORY/],
    [{ SVC_URL: URL, ACME_EMAIL: 'a@b.example,c@d.example' }, /^ACME_EMAIL: .* is not one email address/],
    [{ SVC_URL: URL, ACME_EMAIL: 'a@b.example?subject=x' }, /^ACME_EMAIL/],
    [{ SVC_URL: URL, ACME_CHALLENGE: 'http-01' }, /^ACME_CHALLENGE: one of auto, dns-01, tls-alpn-01/],
  ])('%j is refused', (env, message) => {
    expect(() => readSettings(env)).toThrow(message)
  })
})
