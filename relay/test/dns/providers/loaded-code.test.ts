// A relay loads the code of the DNS provider that it uses, and of no other one; and of no part that is off.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test as every, expect, onTestFinished } from 'vitest'
import { freePort } from '../../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'

const test = wholeOnly(every, 'variant')

const SOURCE = new URL('../../../src/', import.meta.url).href

/** Names of packages that providers need, the payment facilitator, and a relay on several machines. */
const THEIRS = /google|aws|smithy|mysten|x402|ioredis/

/** Folders of the relay that no relay on this machine needs unless a setting asks for them. */
const OPTIONAL = /^features\/(?!(?:[a-z-]+\/)?(?:index|settings)\.ts$)(?!(?:installer|site-certificates)\/)/

/** Modules that a program loads: files of the relay and of `dns`, and packages. */
async function loadedBy(program: string): Promise<{ files: string[]; packages: string[] }> {
  const script = `
    import { registerHooks } from 'node:module'
    const files = new Set()
    const packages = new Set()
    registerHooks({
      load: (url, context, next) => {
        const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
        if (name !== undefined) packages.add(name)
        const [, file] = /(?:relay|dns)\\/src\\/(.*)$/.exec(url) ?? []
        if (file !== undefined) files.add(file)
        return next(url, context)
      },
    })
    const { readSettings } = await import('${SOURCE}settings.ts')
    ${program}
    console.log(JSON.stringify({ files: [...files], packages: [...packages] }))
    process.exit()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return JSON.parse(stdout.split('\n').at(-2)!)
}

test('a relay on this machine loads none', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'svc-lean-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const env = {
    SVC_URL: `https://relay.localhost:${await freePort()}`,
    IDENTITY_PATH: directory,
    LOG_LEVEL: 'silent',
  }
  const { files, packages } = await loadedBy(`
    const { startRelay } = await import('${SOURCE}index.ts')
    await (await startRelay(readSettings(${JSON.stringify(env)}))).close()`)
  expect(files).toContain('relay.ts')
  expect(files.filter((file) => OPTIONAL.test(file))).toEqual([])
  expect(packages).toContain('ws')
  expect(packages.filter((name) => THEIRS.test(name))).toEqual([])
})

test('Route 53 loads its own file alone, and with keys in the environment no chain of credentials', async () => {
  const { files, packages } = await loadedBy(`
    const { openExternalProvider } = await import('${SOURCE}features/dns/providers/open-provider.ts')
    const provider = await openExternalProvider('route53', {
      env: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' },
      rootHost: 'relay.example.com',
      identityPath: '/nowhere',
      log: { error() {} },
      propagation: { waitForTxt() {} },
      connection: { baseUrl: 'http://127.0.0.1:1' },
      firstPauseMs: 1,
    })
    await provider.removeTxt('relay.example.com', 'none').catch(() => {})`)
  expect(files).toContain('providers/route53.ts')
  for (const other of ['cloudflare', 'gcloud', 'google-token', 'hetzner', 'njalla', 'vultr'])
    expect(files).not.toContain(`providers/${other}.ts`)
  expect(packages.filter((name) => THEIRS.test(name)).sort()).toEqual(['@aws-sdk/xml-builder', 'aws4fetch'])
})
