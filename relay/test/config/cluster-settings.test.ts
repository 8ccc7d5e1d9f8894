// The settings of a relay on several machines: what they mean, and a clear sentence, without any secret, for what they cannot mean.

import { describe, expect, test } from 'vitest'
import {
  CLUSTER_SECRET_MIN_CHARS,
  type RedisAddress,
  type WayToRedis,
  wayToRedis,
} from '../../src/features/cluster/settings.ts'
import { readSettings } from '../../src/settings.ts'

const SECRET = 's3cr3t-of-32-characters-or-more!'
const PASSWORD = 'the-passw0rd'
const ENV = {
  SVC_URL: 'https://relay.example',
  CLUSTER_URL: `redis://:${PASSWORD}@redis.example`,
  CLUSTER_ADDR: '192.0.2.1:7443',
  CLUSTER_SECRET: SECRET,
  CLUSTER_ALLOW_PLAINTEXT: 'true',
}

const read = (env: Record<string, string | undefined>) =>
  readSettings(
    Object.fromEntries(
      Object.entries({ ...ENV, ...env }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
  )

describe('CLUSTER_URL', () => {
  const single = {
    kind: 'single',
    master: undefined,
    usesTls: false,
    username: undefined,
    password: undefined,
    database: 0,
  }
  const node = (host: string, port: number) => [{ host, port }]

  test.each<[string, Partial<RedisAddress>]>([
    ['redis://redis.example', { nodes: node('redis.example', 6379) }],
    ['redis://Redis.example:6380', { nodes: node('redis.example', 6380) }],
    ['redis://redis.example/3', { nodes: node('redis.example', 6379), database: 3 }],
    ['redis://redis.example/', { nodes: node('redis.example', 6379) }],
    ['redis://pass@redis.example', { nodes: node('redis.example', 6379), password: 'pass' }],
    ['redis://:pass@redis.example', { nodes: node('redis.example', 6379), password: 'pass' }],
    [
      'redis://me:p%40ss%2F@redis.example',
      { nodes: node('redis.example', 6379), username: 'me', password: 'p@ss/' },
    ],
    ['rediss://[2001:db8::1]:6390', { nodes: node('2001:db8::1', 6390), usesTls: true }],
    ['redis://192.0.2.7', { nodes: node('192.0.2.7', 6379) }],
    [
      'redis+sentinel://a.example,b.example:1234/main/2',
      {
        kind: 'sentinel',
        nodes: [...node('a.example', 26_379), ...node('b.example', 1234)],
        master: 'main',
        database: 2,
      },
    ],
    [
      'rediss+cluster://:pass@a.example,b.example',
      {
        kind: 'cluster',
        nodes: [...node('a.example', 6379), ...node('b.example', 6379)],
        usesTls: true,
        password: 'pass',
      },
    ],
  ])('%s', (url, expected) => {
    expect(read({ CLUSTER_URL: url }).cluster?.redis).toEqual({ ...single, ...expected })
  })
})

describe('the way to Redis', () => {
  test.each<[string, WayToRedis]>([
    ['rediss://redis.example', 'tls'],
    ['rediss+cluster://a.example,b.example', 'tls'],
    ['redis://127.0.0.1', 'loopback'],
    ['redis://127.8.8.8', 'loopback'],
    ['redis://[::1]', 'loopback'],
    ['redis://localhost', 'loopback'],
    ['redis+sentinel://127.0.0.1,localhost/main', 'loopback'],
    ['redis://redis.example', 'plaintext'],
    ['redis://127.0.0.1.example', 'plaintext'],
    ['redis://10.0.0.9', 'plaintext'],
    ['redis+cluster://127.0.0.1,10.0.0.9', 'plaintext'],
  ])('%s is %s, which has to be allowed without TLS', (url, way) => {
    expect(wayToRedis(read({ CLUSTER_URL: url }).cluster!.redis)).toBe(way)
    const strict = { CLUSTER_URL: url, CLUSTER_ALLOW_PLAINTEXT: undefined }
    if (way !== 'plaintext') expect(read(strict).cluster).toBeDefined()
    else
      expect(() => read(strict)).toThrow(
        'CLUSTER_URL: is without TLS to another host: use rediss://, or set CLUSTER_ALLOW_PLAINTEXT=true where nobody else is on the way',
      )
  })
})

describe('a machine', () => {
  test('has a name, and listens where it says or is told', () => {
    expect(read({}).cluster).toMatchObject({
      address: { host: '192.0.2.1', port: 7443 },
      listenPort: 7443,
      secret: SECRET,
    })
    expect(read({ CLUSTER_LISTEN_PORT: '7000' }).cluster).toMatchObject({ listenPort: 7000 })
    expect(read({ CLUSTER_ADDR: '[2001:db8::1]:7443' }).cluster?.address).toEqual({
      host: '2001:db8::1',
      port: 7443,
    })
    expect(read({ PORT_HOST: 'Machine-1.relay.example' }).portHost).toBe('machine-1.relay.example')
  })

  test('is one where no redis is named', () => {
    expect(readSettings({ SVC_URL: ENV.SVC_URL }).cluster).toBeUndefined()
  })
})

const nodes = (count: number): string => Array.from({ length: count }, (_, at) => `n${at}.example`).join()

describe('a sentence says what is wrong, and shows no secret', () => {
  test.each<[Record<string, string | undefined>, string]>([
    [{ CLUSTER_URL: undefined }, 'CLUSTER_ADDR: needs CLUSTER_URL'],
    [{ CLUSTER_URL: undefined, CLUSTER_ADDR: undefined }, 'CLUSTER_SECRET: needs CLUSTER_URL'],
    [
      { CLUSTER_ADDR: undefined },
      'CLUSTER_ADDR: is needed with CLUSTER_URL: HOST:PORT at which the other machines of the relay reach this one',
    ],
    [
      { CLUSTER_SECRET: undefined },
      'CLUSTER_SECRET: is needed with CLUSTER_URL: secret that all machines of the relay share: a random value of 32 characters or more',
    ],
    [
      { CLUSTER_SECRET: SECRET.slice(0, CLUSTER_SECRET_MIN_CHARS - 1) },
      'CLUSTER_SECRET: needs 32 characters or more',
    ],
    [{ CLUSTER_ADDR: '192.0.2.1' }, 'CLUSTER_ADDR: needs a host and a port: HOST:PORT'],
    [{ CLUSTER_ADDR: ':7443' }, 'CLUSTER_ADDR: needs a host and a port: HOST:PORT'],
    [{ CLUSTER_ADDR: 'a host:7443' }, 'CLUSTER_ADDR: is not the name or address of a host'],
    [{ CLUSTER_ADDR: '[::g]:7443' }, 'CLUSTER_ADDR: is not the name or address of a host'],
    [{ PORT_HOST: 'machine/1' }, 'PORT_HOST: is not the name or address of a host'],
    [
      { CLUSTER_URL: `http://:${PASSWORD}@redis.example` },
      'CLUSTER_URL: is not a URL such as redis://:PASSWORD@HOST:6379/0',
    ],
    [
      { CLUSTER_URL: `redis+proxy://:${PASSWORD}@redis.example` },
      'CLUSTER_URL: is not a URL such as redis://:PASSWORD@HOST:6379/0',
    ],
    [
      { CLUSTER_URL: `redis://:${PASSWORD}@redis.example?db=1` },
      'CLUSTER_URL: is not a URL such as redis://:PASSWORD@HOST:6379/0',
    ],
    [
      { CLUSTER_URL: `redis://:${PASSWORD}@a.example,b.example` },
      'CLUSTER_URL: names several hosts, for which redis+sentinel:// or redis+cluster:// is needed',
    ],
    [{ CLUSTER_URL: `redis+cluster://:${PASSWORD}@${nodes(17)}` }, 'CLUSTER_URL: names more than 16 hosts'],
    [
      { CLUSTER_URL: `redis+sentinel://:${PASSWORD}@a.example` },
      'CLUSTER_URL: needs the name of the master: redis+sentinel://HOSTS/MASTER',
    ],
    [
      { CLUSTER_URL: `redis://:${PASSWORD}@redis.example/main` },
      'CLUSTER_URL: has a path that is not the number of a database',
    ],
    [
      { CLUSTER_URL: `redis://:${PASSWORD}@redis.example/1/2` },
      'CLUSTER_URL: has a path that is not the number of a database',
    ],
    [{ CLUSTER_URL: `redis://:${PASSWORD}%@redis.example` }, 'CLUSTER_URL: has a malformed percent sign'],
    [
      { CLUSTER_URL: `redis://:${PASSWORD}@x@redis.example` },
      'CLUSTER_URL: is not the name or address of a host',
    ],
    [
      { OVERLAY_CONFIG: '/overlay.json', DISCOVERY: 'true' },
      'OVERLAY_CONFIG: is of one machine, and is not possible with CLUSTER_URL',
    ],
  ])('%j', (env, message) => {
    const failure = ((): string => {
      try {
        read(env)
        return 'none'
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(failure).toBe(message)
    expect(failure).not.toContain(PASSWORD)
    expect(failure).not.toContain(SECRET)
  })

  test.each([
    ['CLUSTER_ADDR', '192.0.2.1:0'],
    ['CLUSTER_ADDR', '192.0.2.1:65536'],
    ['CLUSTER_ADDR', '192.0.2.1:port'],
    ['CLUSTER_LISTEN_PORT', '0'],
    ['CLUSTER_URL', `redis://:${PASSWORD}@redis.example:70000`],
  ])('%s of %s names no port', (setting, value) => {
    expect(() => read({ [setting]: value })).toThrow(new RegExp(`^${setting}: `))
    expect(() => read({ [setting]: value })).not.toThrow(new RegExp(PASSWORD))
  })
})
