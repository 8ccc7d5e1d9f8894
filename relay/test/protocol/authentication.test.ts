// The protocol: how each credential is sent, and what it is good for.

import { verify } from 'node:crypto'
import { REGISTRATION_STATEMENT, type RegisterChallengeResponse } from '@svc/protocol'
import { expect } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { loadIdentity } from '../../src/core/auth/relay-identity.ts'
import { newAccount } from '../support/relay.ts'
import { nativeSession } from '../support/session.ts'
import { ADMIN_TOKEN, everyRow, failsWith, startWorld } from './every-row.ts'

const world = useStarted(startWorld)

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const inHeader = (token: string) => ({ 'X-Svc-Access-Token': token })
const WITH_BODY_TOKEN = ['/sdk/renew', '/sdk/reverse', '/sdk/unregister']

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
}

everyRow('Authentication schemes', {
  none: async () => {
    for (const path of ['/api/healthz', '/api/state', '/sdk/domain'])
      expect(await world.call('GET', path)).toMatchObject({ status: 200 })
  },
  'admin bearer': async () => {
    const ask = (headers: Record<string, string>) => world.call('GET', '/api/policy', undefined, headers)
    expect(await ask(bearer(ADMIN_TOKEN))).toMatchObject({ status: 200 })
    for (const headers of [{}, bearer('another'), { Authorization: ADMIN_TOKEN }])
      expect(await ask(headers)).toMatchObject(failsWith(401, 'unauthorized'))
  },
  'SIWE signature': async () => {
    const account = newAccount()
    expect((await world.lease({ account })).identity.address).toBe(account.address.toLowerCase())
  },
  'lease access token in the body': async () => {
    const { access_token } = await world.lease()
    for (const path of WITH_BODY_TOKEN) {
      expect(await world.post(path, { access_token: 'no-token' }, inHeader(access_token))).toMatchObject(
        failsWith(403, 'unauthorized'),
      )
      expect(await world.post(path, { access_token })).toMatchObject({ status: 200 })
    }
  },
  'lease access token in the header': async () => {
    const { access_token } = await world.lease()
    expect(await world.post('/v1/sign', { access_token })).toMatchObject(failsWith(403, 'unauthorized'))
    expect(await world.post('/v1/sign', {}, inHeader(access_token))).toMatchObject({ status: 400 })
  },
  'reverse capability': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    session.abort()
    await expect(nativeSession(world, lease.access_token, [])).rejects.toThrow(/ 403 /)
  },
})

everyRow('Authentication rules', {
  '1 login returns the configured token; status tells a valid bearer': async () => {
    const login = await world.post('/api/admin/auth/login', { token: ADMIN_TOKEN })
    expect(login.json.data).toEqual({ access_token: ADMIN_TOKEN })
    for (const token of [ADMIN_TOKEN, 'another']) {
      const status = await world.call('GET', '/api/admin/auth/status', undefined, bearer(token))
      expect(status.json.data).toMatchObject({ authenticated: token === ADMIN_TOKEN })
    }
    await world.admin('POST', '/api/admin/auth/logout')
    expect(await world.admin('GET', '/api/policy')).toMatchObject({ status: 200 })
  },
  '2 admin tokens and lease tokens are not interchangeable (protocol §5.1.6)': async () => {
    const { access_token } = await world.lease()
    expect(await world.call('GET', '/api/policy', undefined, bearer(access_token))).toMatchObject({
      status: 401,
    })
    expect(await world.post('/sdk/renew', { access_token: ADMIN_TOKEN })).toMatchObject({ status: 403 })
  },
  '3 the challenge is a SIWE message with a fixed statement (protocol §4.3.2)': async () => {
    const identity = { name: 'statement', address: newAccount().address }
    const { json } = await world.post('/sdk/register/challenge', { identity })
    const { siwe_message, challenge_id } = json.data as unknown as RegisterChallengeResponse
    expect(siwe_message).toContain(`\n\n${REGISTRATION_STATEMENT}\n\n`)
    expect(siwe_message).toContain(identity.address)
    expect(siwe_message).toMatch(new RegExp(`\nRequest ID: ${challenge_id}$`))
  },
  '4 a lease token is an ES256K JWT of one lease instance (protocol §5.1.1, §5.1.2)': async () => {
    const { access_token, identity } = await world.lease()
    const header = JSON.parse(Buffer.from(access_token.split('.')[0]!, 'base64url').toString())
    expect(header).toEqual({ alg: 'ES256K', typ: 'JWT' })
    expect(claimsOf(access_token)).toMatchObject({
      iss: world.origin,
      aud: 'svc-sdk',
      sub: `${identity.name}:${identity.address}`,
      identity,
      lease_id: expect.any(String),
    })
  },
  '5 a reverse capability is reverse-only and expires with the lease (protocol §5.1.3)': async () => {
    const lease = await world.lease()
    const { capability, expires_at } = lease.reverse_endpoint
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.parse(lease.expires_at))
    expect(Number(claimsOf(capability).exp) * 1000).toBeLessThanOrEqual(Date.parse(lease.expires_at))
    for (const path of WITH_BODY_TOKEN)
      expect(await world.post(path, { access_token: capability })).toMatchObject(
        failsWith(403, 'unauthorized'),
      )
    expect(await world.post('/v1/sign', {}, inHeader(capability))).toMatchObject(
      failsWith(403, 'unauthorized'),
    )
  },
  '8 the relay identity signs tokens and capabilities': async () => {
    const { publicKey } = await loadIdentity(world.directory)
    const lease = await world.lease()
    for (const token of [lease.access_token, lease.reverse_endpoint.capability]) {
      const [header, payload, signature] = token.split('.')
      const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
      const signed = Buffer.from(`${header}.${payload}`)
      expect(verify('sha256', signed, key, Buffer.from(signature!, 'base64url'))).toBe(true)
    }
  },
})
