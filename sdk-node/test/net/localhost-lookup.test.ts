// Names under localhost are loopback, whatever the system says (RFC 6761 §6.3).

import type { LookupAddress, LookupOptions } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { localhostLookup } from '../../src/net/localhost-lookup.ts'

function resolve(
  name: string,
  options: LookupOptions,
): Promise<[string | LookupAddress[], number | undefined]> {
  return new Promise((done, fail) =>
    localhostLookup(name, options, (error, address, family) =>
      error ? fail(error) : done([address, family]),
    ),
  )
}

describe('lookup', () => {
  it.each(['localhost', 'relay.localhost', 'demo.relay.localhost', 'RELAY.LocalHost', 'relay.localhost.'])(
    'of %s is loopback',
    async (name) => {
      expect(await resolve(name, {})).toEqual(['127.0.0.1', 4])
      expect(await resolve(name, { all: true })).toEqual([
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
        undefined,
      ])
    },
  )

  it.each([
    [4, '127.0.0.1'],
    [6, '::1'],
    ['IPv6', '::1'],
  ] as const)('heeds the family %s', async (family, address) => {
    expect((await resolve('a.localhost', { family }))[0]).toBe(address)
  })

  it('answers after it has returned', async () => {
    let returned = false
    const answer = new Promise<boolean>((done) => localhostLookup('a.localhost', {}, () => done(returned)))
    returned = true
    expect(await answer).toBe(true)
  })

  it.each(['localhost.example.invalid', 'notlocalhost.invalid'])('leaves %s to the system', async (name) => {
    await expect(resolve(name, {})).rejects.toMatchObject({ code: expect.stringMatching(/^E/) })
  })
})
