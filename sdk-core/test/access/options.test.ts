// The option `access` of `publish`: what is refused says why, and a site is never open by mistake.

import { expect, it, vi } from 'vitest'
import type { AccessOptions } from '../../src/access/options.ts'
import type { Platform } from '../../src/platform.ts'
import { publishOn } from '../../src/publish.ts'
import type { PublishOptions } from '../../src/site/options.ts'

/** Fails when anything is asked of it: the options are checked first. */
const platform: Platform = {
  fetch: () => Promise.reject(new Error('no request is expected')),
  loadIdentity: () => Promise.reject(new Error('no identity is expected')),
}

function publishWith(access: unknown, more: Partial<PublishOptions> = {}): Promise<unknown> {
  const given = { relay: 'https://relay.example', fetch: () => new Response(), ...more }
  return publishOn(platform, { ...given, access: access as AccessOptions })
}

it.each([
  [{}, 'access has to say who may come in'],
  [{ bearer: 'too-short' }, 'access.bearer has to have 16 characters or more'],
  [{ bearer: 'it has spaces, so it is no token' }, 'access.bearer has to have'],
  [{ bearer: undefined }, 'access has to say who may come in'],
  [{ password: '' }, 'access.password must be a text of 1 to 1024 characters'],
  [
    { password: `scrypt:${'x'.repeat(22)}:${'x'.repeat(43)}` },
    'access.password is a hash, which only Node can check',
  ],
  [{ users: ['alice'] }, 'access.users must be an object'],
  [{ users: { 'a:b': 'x' } }, 'access.users: "a:b" is no user name'],
  [{ users: { alice: 1 } }, 'access.users: the password of alice must be a text'],
  [{ baerer: 'a-token-that-is-long' }, 'there is no option access.baerer'],
  ['secret', 'access must be an object'],
  [null, 'access must be an object'],
])('%o is refused', async (access, message) => {
  await expect(publishWith(access)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  })
})

it('excludes cache, with and without several relays', async () => {
  const cache = { files: {} }
  for (const more of [{ cache }, { cache, relays: ['https://other.example'] }])
    await expect(publishWith({ bearer: 'a-token-that-is-long' }, more)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('access and cache exclude each other'),
    })
})

it('a site whose code cannot be loaded is not published', async () => {
  vi.doMock('../../src/access/index.ts', () => {
    throw new TypeError('import() is not allowed here')
  })
  await expect(publishWith({ bearer: 'a-token-that-is-long' })).rejects.toThrow()
  vi.doUnmock('../../src/access/index.ts')
})
