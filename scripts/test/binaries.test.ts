// The bundle that the installer serves, used as a user does, with a relay that is one file, too; and what executables are made of.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { RELEASE_VERSION } from '../../relay/src/core/version.ts'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'
import { wholeOnly } from '../../tools/test-depth.ts'
import { nearest } from '../binaries/base-binaries.ts'
import { bundleProgram } from '../binaries/bundle.ts'
import { visitExposed } from '../binaries/exposed-site.ts'

const test = wholeOnly(every, 'depth')

const BUNDLE_MAX_BYTES = 3_000_000

/** Installs as the documentation says, on a machine whose PATH has Node 24 or newer. @returns the path of the program */
function installFrom({ url, caFile }: TestRelay, directory: string): string {
  const bin = path.join(directory, 'installed')
  execFileSync('sh', ['-c', `curl -fsSL --cacert "$SVC_CA" ${url}/api/install.sh | sh`], {
    env: {
      PATH: [path.dirname(process.execPath), '/usr/bin', '/bin'].join(path.delimiter),
      SVC_CA: caFile,
      SVC_INSTALL_DIR: bin,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return path.join(bin, 'svc')
}

/** Offers the bundle of svc as `npm run binaries` leaves it. */
function offerBundle(directory: string, bundle: string): void {
  const packed = gzipSync(readFileSync(bundle))
  mkdirSync(path.join(directory, 'bin'))
  writeFileSync(path.join(directory, 'bin/svc.mjs.gz'), packed)
  const sum = createHash('sha256').update(packed).digest('hex')
  writeFileSync(path.join(directory, 'bin/SHA256SUMS'), `${sum}  svc.mjs.gz\n`)
}

describe('bundles', () => {
  let directory: string
  const file = (name: string): string => path.join(directory, `${name}.mjs`)
  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'svc-bundles-'))
    for (const name of ['svc', 'svc-relay'] as const) {
      writeFileSync(file(name), await bundleProgram(name))
      chmodSync(file(name), 0o755)
    }
    offerBundle(directory, file('svc'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  test('svc is one program of less than 3 MB, which a relay that is one file, too, installs', async () => {
    expect(statSync(file('svc')).size).toBeLessThan(BUNDLE_MAX_BYTES)
    expect(execFileSync(file('svc'), ['--version'], { encoding: 'utf8' })).toBe(`${RELEASE_VERSION}\n`)
    const relay = await startTestRelay({
      program: [process.execPath, file('svc-relay')],
      env: { SVC_WORKERS: '2', SVC_INSTALL_DIR: directory },
    })
    try {
      expect(await visitExposed([installFrom(relay, directory)], relay)).toBe('from a local service')
    } finally {
      await relay.stop()
    }
  })
})

describe('the nearest version of Node', () => {
  const published = ['24.21.0', '26.7.0', '26.9.3', '26.12.0', '26.13.0-rc.1', '27.0.0']

  test.each([
    ['26.12.0', '26.12.0'],
    ['26.10.0', '26.9.3'],
    ['26.11.0', '26.12.0'],
    ['26.0.0', '26.7.0'],
    ['27.4.0', '27.0.0'],
    ['25.0.0', undefined],
  ])('to %s is %s', (wanted, found) => {
    expect(nearest(wanted, published)).toBe(found)
  })
})
