// Credentials that the libraries of Google and Amazon find themselves: files, metadata servers, containers.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test as every, expect, type MockInstance, vi } from 'vitest'
import { gcloud } from '../../../../dns/test/providers/fakes/gcloud.ts'
import { route53 } from '../../../../dns/test/providers/fakes/route53.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { ROOT_HOST, start } from './harness.ts'

const test = wholeOnly(every, 'variant')

const CHALLENGE = `_acme-challenge.${ROOT_HOST}`
let empty = ''
let warn: MockInstance

beforeEach(async () => {
  empty = await mkdtemp(join(tmpdir(), 'no-credentials-'))
  warn = vi.spyOn(console, 'warn')
})
afterEach(async () => {
  // Only the log writes lines.
  expect(warn).not.toHaveBeenCalled()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await rm(empty, { recursive: true })
})

describe('Google Cloud', () => {
  test('gives the token and the project of the machine’s own service account', async () => {
    vi.stubEnv('CLOUDSDK_CONFIG', empty)
    vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present')
    const { provider, api } = await start(gcloud, {
      env({ origin }) {
        vi.stubEnv('GCE_METADATA_HOST', new URL(origin).host)
        return {}
      },
    })
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"'])
  })

  test('without a file that is named says so, in one line', async () => {
    const file = join(empty, 'missing.json')
    const { provider, lines } = await start(gcloud, {
      env: () => ({ GOOGLE_APPLICATION_CREDENTIALS: file, GCP_PROJECT_ID: 'relay' }),
    })
    await expect(provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({
      fault: 'unauthorized',
      message: expect.stringContaining(file),
    })
    expect(lines).toEqual([expect.stringMatching(/GOOGLE_APPLICATION_CREDENTIALS has to name/)])
  })

  test('finds a managed zone by its name, and refuses one of another domain', async () => {
    const named = (api: { env: Record<string, string> }) => ({ ...api.env, GCP_MANAGED_ZONE: 'example-zone' })
    const { provider, api } = await start(gcloud, { env: named })
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.requests.some(({ path }) => path.endsWith('/managedZones'))).toBe(false)
    const other = await start(gcloud, { env: named, zone: 'elsewhere.test' })
    await expect(other.provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({ fault: 'wrong_zone' })
  })
})

describe('AWS', () => {
  beforeEach(() => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined)
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(empty, 'credentials'))
    vi.stubEnv('AWS_CONFIG_FILE', join(empty, 'config'))
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  })

  test('gives the credentials of a container', async () => {
    const { provider, api } = await start(route53, {
      env({ origin }) {
        vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${origin}/container-credentials`)
        return {}
      },
    })
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"'])
    expect(api.changes[0]?.headers['x-amz-security-token']).toBe('session')
  })

  test('gives the credentials of a file', async () => {
    const keys = ({ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret }: Record<string, string>): string =>
      `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`
    const { provider, api } = await start(route53, {
      env: () => ({}),
      before: async (api) => await writeFile(join(empty, 'credentials'), keys(api.env)),
    })
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"'])
  })

  test('has none, and says what to set', async () => {
    const { provider } = await start(route53, { env: () => ({}) })
    await expect(provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({
      fault: 'unauthorized',
      message: expect.stringMatching(/^AWS gives no credentials: .*; set AWS_ACCESS_KEY_ID/),
    })
  })

  test('finds a hosted zone by its ID, and refuses one of another domain', async () => {
    const named = (api: { env: Record<string, string> }) => ({
      ...api.env,
      AWS_HOSTED_ZONE_ID: 'Z1D633PJN98FT9',
    })
    const { provider, api } = await start(route53, { env: named })
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.requests.some(({ path }) => path.endsWith('/hostedzonesbyname'))).toBe(false)
    const other = await start(route53, { env: named, zone: 'elsewhere.test' })
    await expect(other.provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({ fault: 'wrong_zone' })
  })

  test('without a key for signatures the relay looks at DNSSEC, and says what to set', async () => {
    const { provider, api } = await start(route53, {
      env: (api) => {
        const { AWS_DNSSEC_KMS_KEY_ARN: _, ...env } = api.env
        return env
      },
    })
    expect(await provider.dnssec()).toEqual({
      state: 'not_signing',
      dsRecord: '',
      message: 'set AWS_DNSSEC_KMS_KEY_ARN, and the relay enables DNSSEC',
    })
    expect(api.changes).toEqual([])
  })
})
